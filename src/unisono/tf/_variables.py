"""`tf.Variable`: Keras's variable with TensorFlow's constructor."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import jax
import keras

from unisono._src import keras_hooks
from unisono.tf._dtypes import to_jax_dtype
from unisono.tf._tensors import as_array, refuse_truncation

SHAPE_DIFFERS = """tf.Variable(shape={shape}): a variable has the shape of its initial value, {found}.
Create the variable as large as it becomes, or keep what grows in Python."""

NEEDS_VALUE = "tf.Variable() needs an initial value: a number, an array, or a function without arguments."


class VariableSynchronization(enum.StrEnum):
    """When the copies of a variable on several replicas are synchronized."""

    AUTO = "auto"
    NONE = "none"
    ON_WRITE = "on_write"
    ON_READ = "on_read"


class VariableAggregation(enum.StrEnum):
    """How the values that replicas assign are combined."""

    NONE = "none"
    SUM = "sum"
    MEAN = "mean"
    ONLY_FIRST_REPLICA = "only_first_replica"


def _initialize_later(value: Any) -> Callable[..., Any]:
    """An initializer for Keras, which calls it when its stateless scope ends."""
    known = keras_hooks.evaluate_constant(value) if isinstance(value, jax.core.Tracer) else value
    return lambda shape, dtype: known


class _VariableMeta(type(keras.Variable)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, keras.Variable)


class Variable(keras.Variable, metaclass=_VariableMeta):
    """A variable with TensorFlow's signature. Every Keras variable is an instance of it.

    >>> step = Variable(0, dtype="int32", trainable=False)
    >>> int(step.assign_add(2)), step.numpy()
    (2, np.int32(2))

    Args:
        initial_value: the initial value, or a function that returns it.
        trainable: whether tapes watch it and optimizers train it. If None, True.
        validate_shape: accepted; the shape is always checked.
        caching_device: accepted, without effect.
        name: its name.
        variable_def: accepted, without effect.
        dtype: its dtype; if None, that of the value.
        import_scope: accepted, without effect.
        constraint: a function that is applied to the value after each update by an optimizer.
        synchronization: a `tf.VariableSynchronization`.
        aggregation: a `tf.VariableAggregation`: how the values that replicas assign are combined.
        shape: accepted if it is the shape of the value.
        experimental_enable_variable_lifting: accepted, without effect.
    """

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: Any = None,
    ) -> None:
        if initial_value is None:
            raise ValueError(NEEDS_VALUE)
        value = initial_value() if callable(initial_value) else initial_value
        if dtype is not None:
            refuse_truncation(value, dtype)
        value = as_array(value, dtype)
        if shape is not None and tuple(shape) != tuple(value.shape):
            raise ValueError(SHAPE_DIFFERS.format(shape=shape, found=tuple(value.shape)))
        initial = {"initializer": value}
        is_in_function = keras_hooks.enclosing_state_scope() is not None
        if keras_hooks.in_stateless_scope() and not is_in_function:  # a layer is built while Keras computes shapes
            initial = {"initializer": _initialize_later(value), "shape": tuple(value.shape)}
        super().__init__(
            **initial,
            dtype=str(to_jax_dtype(value.dtype)),
            trainable=True if trainable is None else trainable,
            name=None if name is None else name.replace("/", "_"),
            synchronization=VariableSynchronization(synchronization).value,
            aggregation=VariableAggregation(aggregation).value,
            autocast=False,
        )
        if constraint is not None:
            self.constraint = constraint

    def assign(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Sets the value. Integers take no floats; the variables of Keras do."""
        refuse_truncation(value, self.dtype)
        return super().assign(value, *args, **kwargs)

    def assign_add(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Adds to the value."""
        refuse_truncation(value, self.dtype)
        return super().assign_add(value, *args, **kwargs)

    def assign_sub(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Subtracts from the value."""
        refuse_truncation(value, self.dtype)
        return super().assign_sub(value, *args, **kwargs)
