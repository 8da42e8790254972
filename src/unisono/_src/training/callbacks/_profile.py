"""Profiles some steps of a training with JAX's profiler."""

from __future__ import annotations

from typing import Any

import jax

from unisono._src.core import warn_user


def profiled_steps(profile_batch: Any) -> tuple[int, int]:
    """The first and the last step of Keras's ``profile_batch``; (0, 0) for none.

    >>> profiled_steps(5), profiled_steps("10,20"), profiled_steps((3, 4)), profiled_steps(0)
    ((5, 5), (10, 20), (3, 4), (0, 0))
    """
    try:
        given = profile_batch.split(",") if isinstance(profile_batch, str) else profile_batch
        numbers = [int(number) for number in given] if isinstance(given, list | tuple) else [int(given)] * 2
        first, last = numbers * 2 if len(numbers) == 1 else numbers
    except (TypeError, ValueError):
        first, last = -1, -1
    if not (0 < first <= last or first == last == 0):
        raise ValueError(
            f"TensorBoard: profile_batch={profile_batch!r}. Expected the number of a step (the first is 1), or the "
            "first and the last one: profile_batch=(10, 20). 0 disables the profile."
        )
    return first, last


class StepProfile:
    """Profiles what runs between two calls of the training loop.

    Args:
        folder: the TensorBoard run to which the trace belongs.
        first: the step to begin with, counted from 1.
        last: the last one.
    """

    def __init__(self, folder: str, first: int, last: int):
        self._folder, self._first, self._last = folder, first, last
        self._tracing = False
        self._over = last == 0

    def before(self, step: int) -> None:
        """``step`` runs next: starts the profiler if it is the first."""
        if self._over or self._tracing or step < self._first:
            return
        try:
            jax.profiler.start_trace(self._folder)
        except RuntimeError as error:  # a process has one profiler, and it may be in use
            warn_user(f"TensorBoard: no profile of steps {self._first}-{self._last}: {error}")
            self._over = True
            return
        self._tracing = True

    def after(self, step: int) -> None:
        """``step`` has run: stops the profiler if it is the last."""
        if step >= self._last:
            self.end()
            self._over = True

    def end(self) -> None:
        """Stops, if it runs."""
        if self._tracing:
            self._tracing = False
            jax.profiler.stop_trace()
