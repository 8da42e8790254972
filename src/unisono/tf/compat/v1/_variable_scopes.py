"""`tf.compat.v1.get_variable` and `variable_scope`: variables by name, created when they are first asked for.

The store keeps the newest variable of each name. A variable is found again in a scope with `reuse`; without it, each
call creates a variable, as in TensorFlow's eager execution.
"""

from __future__ import annotations

import contextlib
import enum
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import keras

from unisono.tf._dtypes import to_jax_dtype
from unisono.tf._operands import static_shape
from unisono.tf._tensors import as_array
from unisono.tf._variables import Variable as VariableV2
from unisono.tf._variables import VariableAggregation, VariableSynchronization

NO_SUCH_VARIABLE = """tf.compat.v1.get_variable({name!r}): there is no variable of that name, and reuse is True. Create
it first in a scope without reuse, or use reuse=tf.compat.v1.AUTO_REUSE."""
NO_SHAPE = """tf.compat.v1.get_variable({name!r}): the shape is missing. Pass shape=..., or an array as initializer."""
OTHER_SHAPE = "tf.compat.v1.get_variable({name!r}): the variable has shape {found}. Expected {wanted}."
NO_SCOPE_NAME = "tf.compat.v1.variable_scope: expected a name, a scope or default_name=, got None."


class _Reuse(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _Reuse.AUTO_REUSE


@dataclass(frozen=True)
class VariableScope:
    """What `with tf.compat.v1.variable_scope(name) as scope` gives."""

    name: str = ""
    reuse: Any = None
    initializer: Any = None
    regularizer: Any = None
    constraint: Any = None
    dtype: Any = "float32"
    original_name_scope: str = ""

    def get_variable(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """`tf.compat.v1.get_variable` in this scope."""
        with variable_scope(self):
            return get_variable(name, *args, **kwargs)


@dataclass
class _Store(threading.local):
    scope: VariableScope = field(default_factory=VariableScope)


_store = _Store()
_variables: dict[str, Any] = {}


class Variable(VariableV2):
    """`tf.Variable`, with arguments of TensorFlow 1 that have no effect."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
    ) -> None:
        super().__init__(
            initial_value,
            trainable,
            name=name,
            dtype=dtype,
            constraint=constraint,
            synchronization=synchronization,
            aggregation=aggregation,
            shape=expected_shape if shape is None else shape,
        )


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """Creates a variable in the current scope, or finds it where the scope has `reuse`.

    >>> with variable_scope("layer", reuse=AUTO_REUSE):
    ...     get_variable("w", [2]) is get_variable("w", [2])
    True

    Args:
        name: its name in the scope.
        shape: its shape; None if the initializer is an array.
        dtype: its dtype; that of the scope if None, which is float32 by default.
        initializer: an initializer of Keras, a function of shape and dtype, or an array. If None, that of the scope,
            else Glorot's for floating-point numbers and zeros for others.
        regularizer: a function of the variable; the variable keeps it as `regularizer`.
        trainable: whether tapes watch it and optimizers train it.
        collections: accepted, without effect.
        caching_device: accepted, without effect.
        partitioner: accepted, without effect.
        validate_shape: accepted; the shape is always checked.
        use_resource: accepted, without effect.
        custom_getter: a function that gets the real getter, the name and the arguments, and returns a variable.
        constraint: a function that is applied to the value after each update by an optimizer.
        synchronization: a `tf.VariableSynchronization`.
        aggregation: a `tf.VariableAggregation`.
    """
    scope = _store.scope
    full_name = f"{scope.name}/{name}" if scope.name else name
    if custom_getter is not None:
        options = {"shape": shape, "dtype": dtype, "initializer": initializer, "trainable": trainable}
        return custom_getter(get_variable, name, **options)
    found = _variables.get(full_name) if scope.reuse else None
    if found is not None:
        if shape is not None and tuple(found.shape) != static_shape(shape):
            raise ValueError(OTHER_SHAPE.format(name=full_name, found=tuple(found.shape), wanted=static_shape(shape)))
        return found
    if scope.reuse is True:
        raise ValueError(NO_SUCH_VARIABLE.format(name=full_name))
    dtype = scope.dtype if dtype is None else dtype
    value = _initial_value(full_name, shape, dtype, scope.initializer if initializer is None else initializer)
    variable = VariableV2(
        value,
        trainable,
        name=name,
        constraint=scope.constraint if constraint is None else constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )
    regularizer = scope.regularizer if regularizer is None else regularizer
    if regularizer is not None:
        variable.regularizer = regularizer
    _variables[full_name] = variable
    return variable


@contextlib.contextmanager
def variable_scope(
    name_or_scope: Any,
    default_name: str | None = None,
    values: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: bool | None = None,
    constraint: Any = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:
    """A context in which `get_variable` creates variables with this prefix, or finds them with `reuse`."""
    outer = _store.scope
    if isinstance(name_or_scope, VariableScope):
        inner = name_or_scope
    else:
        name = name_or_scope if name_or_scope is not None else default_name
        if name is None:
            raise ValueError(NO_SCOPE_NAME)
        full_name = "/".join(part for part in (outer.name, str(name).strip("/")) if part)
        inner = replace(outer, name=full_name, original_name_scope=f"{full_name}/")
    given = {"reuse": reuse, "initializer": initializer, "regularizer": regularizer, "constraint": constraint}
    given["dtype"] = dtype
    inner = replace(inner, **{key: value for key, value in given.items() if value is not None})
    _store.scope = inner
    last = inner.name.rpartition("/")[2]
    try:
        with keras.name_scope(last) if last else contextlib.nullcontext():
            yield inner
    finally:
        _store.scope = outer


def get_variable_scope() -> VariableScope:
    """The current scope."""
    return _store.scope


def reset_default_graph() -> None:
    """Forgets the names of the variables of `get_variable`, and the names of Keras's layers."""
    _variables.clear()
    keras.utils.clear_session(free_memory=False)


def _initial_value(name: str, shape: Any, dtype: Any, initializer: Any) -> Any:
    kind = to_jax_dtype(dtype)
    if initializer is not None and not callable(initializer):
        return as_array(initializer, kind)
    if shape is None:
        raise ValueError(NO_SHAPE.format(name=name))
    sizes = static_shape(shape)
    if initializer is None:
        initializer = keras.initializers.GlorotUniform() if kind.kind == "f" else keras.initializers.Zeros()
    if isinstance(initializer, type):
        initializer = initializer()
    return as_array(initializer(sizes, dtype=str(kind)), kind)
