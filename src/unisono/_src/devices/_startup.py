"""What is fixed once JAX has started: the number of CPU devices, and whether that moment has passed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

import jax

from unisono._src.core import nproc_for

_OPTION: Final = "jax_num_cpu_devices"

TOO_LATE = """JAX has already started with {found} CPU device(s); {wanted} were requested.
JAX fixes their number when the first array is made. Do one of these before that:
    unisono.config.set_cpu_devices({wanted})      # first line after `import unisono`
    strategy = unisono.MirroredStrategy({names})  # before any other use of JAX
or start the program with UNISONO_CPU_DEVICES={wanted}."""

FORKED = """This process was forked from one in which JAX had started: it has JAX's state without its threads, and would
wait forever. Start processes that train anew, with multiprocessing.get_context("spawn") or `unisono run -n 2`."""


def has_jax_started() -> bool:
    """Whether JAX has started in this process. Does not start it."""
    before = getattr(jax.config, _OPTION)
    try:
        jax.config.update(_OPTION, before + 1)  # refused once JAX has started; the same number would not be
    except RuntimeError:
        return True
    jax.config.update(_OPTION, before)
    return False


def check_jax_not_started(message: str) -> None:
    """Raises ``RuntimeError`` with this message if JAX has started in this process."""
    if has_jax_started():
        raise RuntimeError(message)


@dataclass
class _Fork:
    """Whether JAX had started at the last fork, and whether this process is the child of such a fork."""

    had_started: bool = False
    is_child: bool = False

    def remember_start(self) -> None:
        self.had_started = has_jax_started()

    def begin_child(self) -> None:
        self.is_child = self.had_started


_fork: Final = _Fork()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_fork.remember_start, after_in_child=_fork.begin_child)


def check_not_forked() -> None:
    """Raises ``RuntimeError`` if this process cannot use JAX because it is a fork of one that did."""
    if _fork.is_child:
        raise RuntimeError(FORKED)


def set_cpu_devices(count: int) -> None:
    """Gives this process ``count`` CPU devices, each of which can be a replica.

    Call it before JAX starts, that is, before the first array is created. The devices share the cores of the
    machine: use them to try out and test what several GPUs would do.

    ```python
    unisono.config.set_cpu_devices(4)
    strategy = unisono.MirroredStrategy()
    assert strategy.num_replicas_in_sync == 4
    ```
    """
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise ValueError(f"set_cpu_devices takes a whole number of at least 1; got {count!r}.")
    nproc_before = os.environ.get("NPROC")
    if count > 1:
        os.environ["NPROC"] = str(nproc_for(count))  # without enough threads, XLA:CPU's collectives deadlock
    try:
        jax.config.update(_OPTION, count)
    except RuntimeError:
        _restore_nproc(nproc_before)
        found = len(jax.devices("cpu"))
        if found != count:
            names = [f"cpu:{i}" for i in range(count)]
            raise RuntimeError(TOO_LATE.format(found=found, wanted=count, names=names)) from None


def ensure_cpu_devices(count: int) -> None:
    """Raises the number of CPU devices to ``count`` where that is still possible and necessary."""
    if count > max(1, getattr(jax.config, _OPTION)):
        try:
            set_cpu_devices(count)
        except RuntimeError:
            if len(jax.devices("cpu")) < count:
                raise


def _restore_nproc(value: str | None) -> None:
    if value is None:
        os.environ.pop("NPROC", None)
    else:
        os.environ["NPROC"] = value
