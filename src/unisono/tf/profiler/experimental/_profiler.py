"""JAX's profiler under TensorFlow's names. TensorBoard's profile page shows the files that it writes."""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple

import jax

from unisono.tf import errors
from unisono.tf._paths import to_local_path


class ProfilerOptions(NamedTuple):
    """How much is recorded. ``delay_ms`` has to be None: recording starts immediately."""

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


def start(logdir: Any, options: ProfilerOptions | None = None) -> None:
    """Starts recording what runs on the host and on the devices. :func:`stop` writes it to ``logdir``."""
    folder = to_local_path(logdir, "tf.profiler.experimental.start")
    try:
        jax.profiler.start_trace(folder, profiler_options=_to_jax_options(options or ProfilerOptions()))
    except RuntimeError as error:
        message = "tf.profiler.experimental.start: a profile is being recorded already. Call stop() first."
        raise errors.AlreadyExistsError(None, None, message) from error


def stop(save: bool = True) -> None:
    """Stops recording and writes the profile. ``save=False`` is not supported."""
    if not save:
        raise NotImplementedError(
            "tf.profiler.experimental.stop(save=False) is not supported: the profile is always written. Call stop()."
        )
    try:
        jax.profiler.stop_trace()
    except RuntimeError as error:
        message = "tf.profiler.experimental.stop: no profile is being recorded. Call start(logdir) first."
        raise errors.UnavailableError(None, None, message) from error


class Profile:
    """Records a profile of the block: `with tf.profiler.experimental.Profile("logs"):`."""

    def __init__(self, logdir: Any, options: ProfilerOptions | None = None) -> None:
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        stop()


class Trace:
    """Names the block in the profile. With `step_num=` it is a training step.

    ```python
    with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
        train_step(batch)
    ```
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        is_step = kwargs.pop("_r", None) is not None or "step_num" in kwargs
        kind: Any = jax.profiler.StepTraceAnnotation if is_step else jax.profiler.TraceAnnotation
        self._annotation = kind(name, **kwargs)

    def __enter__(self) -> Trace:
        self._annotation.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._annotation.__exit__(kind, error, traceback)

    def set_metadata(self, **kwargs: Any) -> None:
        """Adds metadata to the trace event."""
        self._annotation.set_metadata(**kwargs)


def _to_jax_options(options: ProfilerOptions) -> Any:
    if options.delay_ms is not None:
        raise ValueError("ProfilerOptions(delay_ms=...): recording starts immediately. Call start() later instead.")
    jax_options = jax.profiler.ProfileOptions()
    jax_options.host_tracer_level = options.host_tracer_level
    jax_options.python_tracer_level = options.python_tracer_level
    jax_options.device_tracer_level = options.device_tracer_level
    return jax_options
