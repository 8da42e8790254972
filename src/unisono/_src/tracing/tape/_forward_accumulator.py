"""`ForwardAccumulator`: derivatives in a direction, computed together with what is computed in a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import jax
import jax.numpy as jnp
import keras

from unisono._src import keras_hooks
from unisono._src.tracing.tape._arguments import flatten_arrays, is_variable
from unisono._src.tracing.tape._followed_values import FollowedValues
from unisono._src.tracing.tape._record import is_differentiable
from unisono._src.tracing.tape._sessions import RecordingSession
from unisono._src.tracing.tape._unconnected import UnconnectedGradients, pack_gradients

NOT_FLOATING = """ForwardAccumulator was given a value of dtype {dtype}, which has no derivatives. Cast it to a floating
dtype before, such as float32."""

NUMBER_OF_TANGENTS = """ForwardAccumulator was given {primals} values and {tangents} tangents. Give one tangent for each
value, in the same structure."""

SHAPE_OF_TANGENT = """ForwardAccumulator was given a tangent of shape {tangent} for a value of shape {primal}. They must
be the same."""

ENTERED_TWICE = "This ForwardAccumulator is recording already. Create a second one."


class ForwardAccumulator:
    """Computes, in a `with` block, the derivative of everything in the direction ``tangents`` from ``primals``.

    It costs about as much as the computation once more, whatever the number of results: the better choice for many
    results of few inputs. A gradient costs the same for many inputs of one result. Accumulators and tapes can be nested
    in each other, for derivatives of higher order.

    >>> import jax.numpy as jnp
    >>> import unisono.tf as tf
    >>> x = jnp.array([2.0, 3.0])
    >>> with tf.autodiff.ForwardAccumulator(x, jnp.array([1.0, 0.0])) as accumulator:
    ...     y = x**2 * x[0]
    >>> print(accumulator.jvp(y))
    [12.  9.]

    Args:
        primals: arrays or variables, or a nested structure of them.
        tangents: an array for each of these, in the same structure and of the same shapes.
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        flat = flatten_arrays(primals, "A value of ForwardAccumulator is", TypeError)
        directions = [jnp.asarray(tangent) for tangent in keras.tree.flatten(tangents)]
        if len(flat) != len(directions):
            raise ValueError(NUMBER_OF_TANGENTS.format(primals=len(flat), tangents=len(directions)))
        self._tangents = _Tangents()
        for primal, tangent in zip(flat, directions, strict=True):
            self._watch(primal, tangent)
        self._session: RecordingSession | None = None

    def __enter__(self) -> Self:
        if self._session is not None:
            raise ValueError(ENTERED_TWICE)
        self._session = RecordingSession(self._tangents, watches_reads=False)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def jvp(self, primals: Any, unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE) -> Any:
        """The derivatives of ``primals``, in their structure.

        Args:
            primals: what was computed in the block, as arrays in a nested structure.
            unconnected_gradients: what is returned for a value that does not depend on the watched ones, "none" or
                "zero".
        """
        unconnected = UnconnectedGradients(unconnected_gradients)
        flat = flatten_arrays(primals, "An argument of jvp() is", TypeError)
        return pack_gradients([self._tangents.followed.find(each) for each in flat], primals, unconnected)

    def _watch(self, primal: Any, tangent: Any) -> None:
        value = keras_hooks.raw_value(primal) if is_variable(primal) else primal
        if not is_differentiable(value):
            raise ValueError(NOT_FLOATING.format(dtype=value.dtype))
        if value.shape != tangent.shape:
            raise ValueError(SHAPE_OF_TANGENT.format(tangent=tangent.shape, primal=value.shape))
        tangent = tangent.astype(value.dtype)
        if is_variable(primal):
            self._tangents.followed.add_variable(primal, tangent)
        else:
            self._tangents.followed.add(value, tangent)


class _Tangents:
    """The derivative of every value that has one. It is to an accumulator what a record is to a tape."""

    keeps_arguments = False

    def __init__(self) -> None:
        self.followed = FollowedValues[Any]()

    def follows(self, value: Any) -> bool:
        return value in self.followed

    def watch_variable(self, variable: Any, value: Any) -> None:
        """Variables are followed if the user gave a tangent for them, and not because they are read."""

    def record(self, call: Callable[..., list[Any]], arguments: Sequence[Any], evaluating: bool) -> list[Any]:
        """Runs ``call(*arguments)``, and its derivative if an argument has one."""
        indices = [index for index, argument in enumerate(arguments) if argument in self.followed]
        if not indices:
            return list(call(*arguments))

        def call_with(*varied: Any) -> list[Any]:
            every = list(arguments)
            for index, value in zip(indices, varied, strict=True):
                every[index] = value
            return list(call(*every))

        primals = [arguments[index] for index in indices]
        results, tangents = jax.jvp(call_with, primals, [self.followed[primal] for primal in primals])
        # Some operations return their argument, which has a tangent of its own.
        results = [jnp.array(each, copy=True) if each in self.followed else each for each in results]
        for result, tangent in zip(results, tangents, strict=True):
            if is_differentiable(result):
                self.followed.add(result, tangent)
        return results
