"""`GradientTape`: records what is computed in a block, and computes gradients of it afterwards."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any, Self

import jax.numpy as jnp

from unisono._src import jax_hooks, keras_hooks
from unisono._src.tracing.tape._arguments import flatten_arrays, is_variable, make_output_cotangents
from unisono._src.tracing.tape._backward_pass import compute_gradients
from unisono._src.tracing.tape._jacobian import compute_batch_jacobian, compute_jacobians
from unisono._src.tracing.tape._record import Record, is_differentiable
from unisono._src.tracing.tape._sessions import RecordingSession
from unisono._src.tracing.tape._unconnected import UnconnectedGradients, pack_gradients

NOTHING_RECORDED = """This tape holds nothing: it was never entered, or its gradients were computed before.
A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians). Compute all at once,
    tape.gradient(loss, [weights, inputs])
or create the tape with unisono.GradientTape(persistent=True)."""

STILL_RECORDING = """This tape is in use: its `with` block has not ended, and cannot be entered again inside itself.
Create a second GradientTape."""

NOT_RECORDING = "This tape is not recording. Call {method}() inside its `with` block."

NOT_FLOATING = """The tape was asked to watch a value of dtype {dtype}, which has no gradients. Cast it to a floating
dtype before, such as float32."""

ONE_TARGET = "{method} takes one array or variable as its {role}, got {kind}. Call it once for each."


class GradientTape:
    """Records the operations in a `with` block, so that their results can be differentiated.

    Trainable variables are watched when they are read; arrays are watched by :meth:`watch`. Values stay plain arrays,
    so Python can branch on them, print them and use them after the block. A tape works in the same way when operations
    run one by one and inside compiled functions, where it results in the same program as `jax.grad`.

    A tape can be used once, unless it is ``persistent``. Tapes can be nested to compute higher-order derivatives.

    >>> import jax.numpy as jnp
    >>> import unisono
    >>> x = jnp.array(3.0)
    >>> with unisono.GradientTape() as outer:
    ...     outer.watch(x)
    ...     with unisono.GradientTape() as inner:
    ...         inner.watch(x)
    ...         y = x**3
    ...     first = inner.gradient(y, x)
    >>> print(first, outer.gradient(first, x))
    27.0 18.0

    Args:
        persistent: whether gradients can be computed more than once. The tape then keeps everything it recorded.
        watch_accessed_variables: whether a trainable variable is watched as soon as it is read.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watches_reads = watch_accessed_variables
        self._record: Record | None = None
        self._session: RecordingSession | None = None
        self._variables: tuple[Any, ...] = ()

    def __enter__(self) -> Self:
        if self._session is not None:
            raise ValueError(STILL_RECORDING)
        if self._record is None:
            self._record = Record(self._persistent)
        self._session = RecordingSession(self._record, self._watches_reads)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def watch(self, tensor: Any) -> None:
        """Watches ``tensor`` from now on: an array, a variable, or a nested structure of them.

        >>> import jax.numpy as jnp
        >>> import unisono
        >>> weights = {"w": jnp.array([1.0, 2.0]), "b": jnp.array(0.5)}
        >>> with unisono.GradientTape() as tape:
        ...     tape.watch(weights)
        ...     y = jnp.sum(weights["w"] ** 2) + weights["b"]
        >>> gradients = tape.gradient(y, weights)
        >>> print(gradients["w"], gradients["b"])
        [2. 4.] 1.0
        """
        if self._record is None:
            raise RuntimeError(NOT_RECORDING.format(method="watch"))
        for value in flatten_arrays(tensor, "watch() was given", ValueError):
            raw = keras_hooks.raw_value(value) if is_variable(value) else value
            if not is_differentiable(raw):
                warnings.warn(NOT_FLOATING.format(dtype=value.dtype), stacklevel=2)
            elif is_variable(value):
                self._record.watch_variable(value, raw)
            else:
                self._record.watch(value)

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that are or were watched, in the order in which they were first read."""
        return self._variables if self._record is None else self._record.variables

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Pauses recording: operations in this block are not recorded.

        >>> import jax.numpy as jnp
        >>> import unisono
        >>> x = jnp.array(4.0)
        >>> with unisono.GradientTape() as tape:
        ...     tape.watch(x)
        ...     with tape.stop_recording():
        ...         y = x * x
        >>> print(tape.gradient(y, x))
        None
        """
        if self._record is None:
            raise RuntimeError(NOT_RECORDING.format(method="stop_recording"))
        session = self._recording_session("stop_recording")
        session.recording = False
        try:
            yield
        finally:
            session.recording = True

    def reset(self) -> None:
        """Discards everything that was recorded and watched, and continues recording.

        >>> import jax.numpy as jnp
        >>> import unisono
        >>> x = jnp.array(4.0)
        >>> with unisono.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        ...     tape.reset()
        ...     tape.watch(x)
        ...     z = y + 3 * x
        >>> print(tape.gradient(z, x))
        3.0
        """
        session = self._recording_session("reset")
        self._record = Record(self._persistent)
        session.use(self._record)

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """Returns the derivative of the sum of all elements of ``target`` with respect to each of ``sources``.

        >>> import keras
        >>> import unisono
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")])
        >>> with unisono.GradientTape() as tape:
        ...     loss = keras.ops.sum(model(keras.ops.array([[1.0, 2.0]])) ** 2)
        >>> kernel, bias = tape.gradient(loss, model.trainable_variables)
        >>> print(kernel.tolist(), bias.tolist())
        [[6.0], [12.0]] [6.0]

        Args:
            target: an array or a variable, or a nested structure of them, whose gradients are then added.
            sources: arrays that were watched or computed, variables, or a nested structure of them.
            output_gradients: factors for the elements of the target, in its structure.
            unconnected_gradients: what a source gets on which the target does not depend, "none" or "zero".
        """
        unconnected = UnconnectedGradients(unconnected_gradients)
        with self._use_record() as (record, recompute):
            if target is None:
                raise TypeError("gradient() was given None as target. Pass the loss, or a nested structure of arrays.")
            targets = flatten_arrays(target, "The target of gradient() is", TypeError)
            flat_sources = flatten_arrays(sources, "A source of gradient() is", TypeError)
            found = compute_gradients(
                record, targets, make_output_cotangents(targets, output_gradients), flat_sources, recompute
            )
        return pack_gradients(jax_hooks.mark_gradients(found), sources, unconnected)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Returns the derivative of every element of ``target`` with respect to every element of each source.

        >>> import jax.numpy as jnp
        >>> import unisono
        >>> x = jnp.array([1.0, 2.0])
        >>> with unisono.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> print(tape.jacobian(y, x))
        [[2. 0.]
         [0. 4.]]

        Args:
            target: one array or variable.
            sources: arrays and variables, or a nested structure of them.
            unconnected_gradients: what a source gets on which the target does not depend, "none" or "zero".
            parallel_iterations: for how many elements of the target at a time; None is all of them. Less needs less
                memory.
            experimental_use_pfor: False computes one element at a time, with the least memory.
        """
        unconnected = UnconnectedGradients(unconnected_gradients)
        with self._use_record() as (record, recompute):
            _check_single(target, "jacobian()", "target")
            flat_sources = flatten_arrays(sources, "A source of jacobian() is", TypeError)
            found = compute_jacobians(
                record, target, flat_sources, recompute, parallel_iterations, experimental_use_pfor
            )
        return pack_gradients(found, sources, unconnected, tuple(target.shape))

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of every row: of ``target[i]`` by ``source[i]``, which must not depend on other rows.

        As in TensorFlow, the result is zero for a source on which the target does not depend, whatever
        `unconnected_gradients` is.

        >>> import jax.numpy as jnp
        >>> import unisono
        >>> x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
        >>> with unisono.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> print(tape.batch_jacobian(y, x).tolist())
        [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]

        Args:
            target: one array with the batch as its first dimension.
            source: one array or variable, likewise.
            unconnected_gradients: "none" or "zero", without effect.
            parallel_iterations: for how many elements of a row at a time; None is all of them.
            experimental_use_pfor: False computes one element at a time, with the least memory.
        """
        UnconnectedGradients(unconnected_gradients)
        with self._use_record() as (record, recompute):
            _check_single(target, "batch_jacobian()", "target")
            _check_single(source, "batch_jacobian()", "source")
            found = compute_batch_jacobian(
                record, target, source, recompute, parallel_iterations, experimental_use_pfor
            )
        return jnp.zeros((*target.shape, *source.shape[1:]), target.dtype) if found is None else found

    def _recording_session(self, method: str) -> RecordingSession:
        if self._session is None or not self._session.recording:
            raise ValueError(NOT_RECORDING.format(method=method))
        return self._session

    @contextlib.contextmanager
    def _use_record(self) -> Iterator[tuple[Record, bool]]:
        """The record, and whether its operations must run again. Afterwards it is dropped, unless the tape is
        persistent.
        """
        if self._record is None:
            raise RuntimeError(NOTHING_RECORDED)
        if self._session is not None and not self._persistent:
            self._session.recording = False
        yield self._record, self._session is not None and self._session.must_recompute()
        if not self._persistent:
            self._variables = self._record.variables
            self._record = None
            if self._session is not None:
                self._session.use(Record(False))  # releases what was recorded; nothing is added


def _check_single(value: Any, method: str, role: str) -> None:
    leaves = flatten_arrays(value, f"The {role} of {method} is", TypeError)
    if len(leaves) != 1 or leaves[0] is not value:
        raise TypeError(ONE_TARGET.format(method=method, role=role, kind=type(value).__name__))
