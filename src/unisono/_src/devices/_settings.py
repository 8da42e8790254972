"""The process-wide settings behind `unisono.config`: determinism, residency of data, padding, the check of weights."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, get_args

import jax

from unisono._src.devices._startup import check_jax_not_started

Residency = Literal["auto", "device", "host"]
SequencePadding = Literal["auto", "off"] | tuple[int, ...]

_DETERMINISTIC_FLAG: Final = "--xla_gpu_deterministic_ops=true"

TOO_LATE = """deterministic() has to be called before JAX starts: directly after the imports, before arrays, datasets,
strategies and models are created."""

# Training data may take this fraction of a device's memory; the rest is for the model. Of the total memory, not of
# what is free at the moment: two runs of one job must decide alike.
_MAX_FRACTION: Final = 0.25

_is_deterministic = False
_residency: Residency = "auto"
_sync_check = False
_sequence_padding: SequencePadding = "auto"


def deterministic() -> None:
    """Makes two runs of one program give the same bits on GPUs, too.

    XLA then avoids GPU operations whose sums depend on the order of threads. This is not the default, because some of
    these operations are faster. `fit` with `resume=` also caches its compiled programs in the run folder: XLA chooses
    between kernels by measuring their time, and a new process must not choose differently. On CPUs and TPUs, nothing
    changes.

    ```python
    import unisono

    unisono.config.deterministic()
    ```
    """
    global _is_deterministic
    check_jax_not_started(TOO_LATE)
    if _DETERMINISTIC_FLAG not in os.environ.get("XLA_FLAGS", "").split():
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_DETERMINISTIC_FLAG}".strip()
    _is_deterministic = True


def is_deterministic() -> bool:
    """Whether :func:`deterministic` was called."""
    return _is_deterministic


def set_residency(where: Residency) -> None:
    """Sets where training data that can be addressed by row is kept during ``fit``.

    - ``"auto"``: on the devices if all copies take at most a quarter of their memory, otherwise on the host.
    - ``"device"``: always on the devices.
    - ``"host"``: never; batches are gathered on the host and sent a few at a time.

    ```python
    unisono.config.set_residency("host")
    ```
    """
    global _residency
    if where not in get_args(Residency):
        raise ValueError(f"Residency is one of {', '.join(map(repr, get_args(Residency)))}; got {where!r}.")
    _residency = where


def residency() -> Residency:
    """Returns the current setting of :func:`set_residency`; "auto" by default.

    >>> import unisono
    >>> unisono.config.residency()
    'auto'
    """
    return _residency


def set_sync_check(on: bool) -> None:
    """Compares the weights of all devices and processes after every epoch of `fit`, and raises if they differ.

    It costs time and should never find anything: it is a consistency check for debugging.

    ```python
    unisono.config.set_sync_check(True)
    ```
    """
    global _sync_check
    _sync_check = bool(on)


def sync_check() -> bool:
    """Returns the current setting of :func:`set_sync_check`; False by default."""
    return _sync_check


def copies_fit(num_bytes: int, devices: list[jax.Device]) -> bool:
    """Whether one copy of ``num_bytes`` per device stays within the allowed fraction of their memory."""
    if devices[0].platform == "cpu":  # the devices share the host's memory, and one copy in it
        return num_bytes <= _MAX_FRACTION * _host_memory()
    return all(num_bytes <= _MAX_FRACTION * _device_memory(device) for device in devices)


def _device_memory(device: jax.Device) -> int:
    return int((device.memory_stats() or {}).get("bytes_limit", 0))


def _host_memory(cgroups: Path = Path("/sys/fs/cgroup")) -> int:
    """That of the machine, or less if this process is in a container with a limit."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):  # cgroups of version 2 and 1
        with contextlib.suppress(OSError, ValueError):  # there is no such file, or it says "max"
            limits.append(int((cgroups / name).read_text()))
    return min(limits)


def set_sequence_padding(lengths: Literal["auto", "off"] | Sequence[int]) -> None:
    """Sets how `fit`, `evaluate` and `predict` pad batches whose sequences differ in length from batch to batch.

    Every new batch shape compiles a new program. Batches are padded only if the layers of the model guarantee that the
    results stay the same: a layer masks the padding, or the input is ragged, and all layers up to the end of the time
    axis respect the mask.

    - ``"auto"``: from the third length on, to multiples of 8 up to 32, then to 48, 64, 96, 128, 192, ...
    - ``"off"``: never.
    - lengths such as ``[32, 64, 128]``: to the next of these lengths; above the largest, to multiples of it.

    ```python
    unisono.config.set_sequence_padding([64, 256])
    ```
    """
    global _sequence_padding
    if isinstance(lengths, str):
        if lengths not in ("auto", "off"):
            raise ValueError(f'Sequence padding is "auto", "off" or a list of lengths; got {lengths!r}.')
        _sequence_padding = lengths
        return
    given = tuple(sorted(set(lengths)))
    if not given or not all(isinstance(each, int) and each > 0 for each in given):
        raise ValueError(f"Lengths to pad to are whole numbers of at least 1, such as [64, 256]; got {lengths!r}.")
    _sequence_padding = given


def sequence_padding() -> SequencePadding:
    """Returns the current setting of :func:`set_sequence_padding`; "auto" by default."""
    return _sequence_padding
