"""Runs a script up to its first `fit`, which it takes the place of."""

from __future__ import annotations

import contextlib
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from unisono._src.devices import select_devices
from unisono._src.keras_hooks import handle_fit
from unisono._src.strategy import ignore_cluster

_T = TypeVar("_T")

NO_FIT = """{script} ended without a call to model.fit. unisono plan takes the place of the first fit of a script;
custom training loops are not predicted. Call model.fit, or plan a script that does."""


class NoFitError(Exception):
    """The script ended without a `fit`."""


class _FitReached(BaseException):
    """Ends the script; not an Exception, so that its own handlers do not catch it."""

    def __init__(self, result: Any):
        super().__init__()
        self.result = result


def run_until_fit(
    script: Path,
    arguments: Sequence[str],
    examine: Callable[[Any, dict[str, Any]], _T],
    choose_devices: Callable[[list[Any]], list[Any]],
) -> _T:
    """What ``examine`` returns for the model and the arguments of the first `fit` in ``script``.

    Code after that `fit` does not run. Strategies that would join a cluster use the devices of this process alone, and
    those that are given no devices by name the ones that ``choose_devices`` returns.
    """

    def take_over(model: Any, fit_arguments: dict[str, Any]) -> None:
        handle_fit.reset()  # what `examine` runs is real
        raise _FitReached(examine(model, fit_arguments))

    with _overrides(take_over, choose_devices), _as_main_script(script, arguments):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except _FitReached as end:
            return end.result  # type: ignore[no-any-return]
        except SystemExit as end:
            if end.code not in (None, 0):
                raise
    raise NoFitError(NO_FIT.format(script=script))


@contextlib.contextmanager
def _overrides(
    take_over: Callable[[Any, dict[str, Any]], None], choose_devices: Callable[[list[Any]], list[Any]]
) -> Iterator[None]:
    handle_fit.set(take_over)
    select_devices.set(choose_devices)
    ignore_cluster.set(True)
    try:
        yield
    finally:
        handle_fit.reset()
        select_devices.reset()
        ignore_cluster.reset()


@contextlib.contextmanager
def _as_main_script(script: Path, arguments: Sequence[str]) -> Iterator[None]:
    """`sys.argv` and `sys.path` as Python sets them for a script."""
    argv, path = sys.argv, sys.path[:]
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path
