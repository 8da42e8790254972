"""Hook: a weight of a layer is split along its first dimension into several variables, if its strategy says so.

The layer has the parts among its weights, as tf.distribute's do: an optimizer trains each, a parameter server holds
each. The attribute of the layer is a `ShardedVariable`, which is read as the whole.

Checked against Keras 3.15.1: `Layer.add_weight` makes a variable, tracks it by `_track_variable` and returns it;
an attribute that is no variable is not tracked. `save_own_variables` and `load_own_variables` of a layer enumerate its
variables, and count them in `_check_load_own_variables`; layers that override them use the attributes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Final, final

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono._src import hooks
from unisono._src.keras_hooks._attributes import get_owner

_ADD_WEIGHT = (
    "(self, *args, shape=None, initializer=None, dtype=None, trainable=True, autocast=True, regularizer=None, "
    "constraint=None, aggregation='none', overwrite_with_gradient=False, name=None)"
)


_WHOLE: Final = "_unisono_whole"


def install_partitioned_weights() -> None:
    """Installs the hook."""
    why = "a weight is split over parameter servers as the partitioner of its strategy says"
    hooks.wrap(keras.Layer, "add_weight", _split_if_large, expects=_ADD_WEIGHT, why=why)
    for name in ("_track_variable", "_untrack_variable"):
        hooks.require(keras.Layer, name, expects="(self, variable)", why=why)
    why = "files have the whole of a weight that is split: they do not depend on the partitioner"
    hooks.wrap(keras.Layer, "save_own_variables", _save_whole, expects="(self, store)", why=why)
    hooks.wrap(keras.Layer, "load_own_variables", _load_whole, expects="(self, store)", why=why)
    hooks.wrap(keras.Layer, "_check_load_own_variables", _check_whole, expects="(self, store)", why=why)
    for name in ("_trainable_variables", "_non_trainable_variables"):
        hooks.require(keras.Layer, name, expects="instance attribute", why=why)


@final
class ShardedVariable:
    """A weight in several variables, each with some of its rows.

    Attributes:
        variables: the parts, in order.
    """

    def __init__(self, variables: list[Any], name: str, path: str) -> None:
        self.variables, self.name, self.path = variables, name, path

    @property
    def value(self) -> Any:
        """All rows, in one array."""
        return jnp.concatenate([part.value for part in self.variables])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all rows together."""
        return (sum(part.shape[0] for part in self.variables), *self.variables[0].shape[1:])

    @property
    def dtype(self) -> str:
        """The dtype of every part."""
        return str(self.variables[0].dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def trainable(self) -> bool:
        """Whether optimizers change it."""
        return bool(self.variables[0].trainable)

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        for part in self.variables:
            part.trainable = trainable

    def assign(self, value: Any) -> ShardedVariable:
        """Replaces the value; each part gets its rows."""
        if tuple(np.shape(value)) != self.shape:
            raise ValueError(f"{self.path}: a value of shape {np.shape(value)} was assigned, expected {self.shape}.")
        start = 0
        for part in self.variables:
            part.assign(value[start : start + part.shape[0]])
            start += part.shape[0]
        return self

    def assign_add(self, value: Any) -> ShardedVariable:
        """Adds to the value."""
        return self.assign(self.value + jnp.asarray(value))

    def assign_sub(self, value: Any) -> ShardedVariable:
        """Subtracts from the value."""
        return self.assign(self.value - jnp.asarray(value))

    def numpy(self) -> Any:
        """The value, on the host."""
        return np.asarray(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        del copy  # it is one
        return np.asarray(self.value, dtype)

    def __jax_array__(self) -> Any:
        return self.value

    def __getitem__(self, index: Any) -> Any:
        return self.value[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def __repr__(self) -> str:
        return f"<ShardedVariable path={self.path}, shape={self.shape}, dtype={self.dtype}, {len(self)} parts>"


def _forward(name: str) -> Callable[..., Any]:
    def method(self: ShardedVariable, *operands: Any) -> Any:
        return getattr(operator, name)(self.value, *operands)

    return method


for _name in ("add", "sub", "mul", "truediv", "pow", "matmul", "neg", "lt", "le", "gt", "ge"):
    setattr(ShardedVariable, f"__{_name}__", _forward(_name))
for _name in ("add", "mul"):
    setattr(ShardedVariable, f"__r{_name}__", _forward(_name))


class _Rows:
    """An initializer: some rows of what another one gives. All parts share one draw, that of the whole weight."""

    def __init__(self, whole: Callable[[], Any], start: int, stop: int) -> None:
        self._whole, self._start, self._stop = whole, start, stop

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        del shape, kwargs
        return jnp.asarray(self._whole()[self._start : self._stop], dtype)


def _split_if_large(original: Any) -> Any:
    def add_weight(self: Any, *args: Any, **kwargs: Any) -> Any:
        variable = original(self, *args, **kwargs)
        owner = get_owner(variable)
        number = 1 if owner is None else owner.placement.num_shards(tuple(variable.shape), str(variable.dtype))
        if number == 1:
            return variable
        self._untrack_variable(variable)
        parts = _make_parts(self, variable, number, original)
        sharded = ShardedVariable(parts, variable.name, variable.path)
        for part in parts:
            part.__dict__[_WHOLE] = sharded
        return sharded

    return add_weight


def _whole_variables(layer: Any) -> list[Any] | None:
    """The variables of a layer as it would have them without a partitioner; None if none of them is split."""
    variables = [*layer._trainable_variables, *layer._non_trainable_variables]
    wholes = [variable.__dict__.get(_WHOLE, variable) for variable in variables]
    if all(whole is variable for whole, variable in zip(wholes, variables, strict=True)):
        return None
    return list({id(whole): whole for whole in wholes}.values())


def _save_whole(original: Any) -> Any:
    def save_own_variables(self: Any, store: Any) -> None:
        variables = _whole_variables(self)
        if variables is None:
            original(self, store)
            return
        for index, variable in enumerate(variables):
            store[str(index)] = variable.numpy() if isinstance(variable, ShardedVariable) else variable

    return save_own_variables


def _load_whole(original: Any) -> Any:
    def load_own_variables(self: Any, store: Any) -> None:
        variables = _whole_variables(self)
        if variables is None:
            original(self, store)
            return
        self._check_load_own_variables(store)
        for index, variable in enumerate(variables):
            variable.assign(store[str(index)])

    return load_own_variables


def _check_whole(original: Any) -> Any:
    def check_load_own_variables(self: Any, store: Any) -> None:
        variables = _whole_variables(self)
        if variables is None or len(store.keys()) != len(variables):
            original(self, store)

    return check_load_own_variables


def _make_parts(layer: Any, variable: Any, number: int, add_weight: Callable[..., Any]) -> list[Any]:
    rows = variable.shape[0]
    drawn: list[Any] = []

    def whole() -> Any:
        if drawn:
            return drawn[0]
        value = variable._value
        if value is None:  # a model that is built by shapes: its variables get their values afterwards
            value = variable._initializer(variable.shape, dtype=variable.dtype)
        if not isinstance(value, jax.core.Tracer):
            drawn.append(value)
        return value

    # The first parts have a row more if the rows do not divide, as in TensorFlow.
    sizes = [rows // number + (index < rows % number) for index in range(number)]
    starts = [sum(sizes[:index]) for index in range(number)]
    return [
        add_weight(
            layer,
            shape=(size, *variable.shape[1:]),
            initializer=_Rows(whole, start, start + size),
            dtype=str(variable.dtype),
            trainable=variable.trainable,
            autocast=variable._autocast,
            regularizer=variable.regularizer,
            constraint=variable.constraint,
            aggregation=variable.aggregation,
            name=f"{variable.name}_part_{index}",
        )
        for index, (size, start) in enumerate(zip(sizes, starts, strict=True))
    ]
