"""Hook: how Keras variables are stored on the devices of a strategy that shards them, and how code reads them.

Layers read a weight whole, optimizers compute with its shards. The variables of optimizers are stored like the weights
that they belong to.

Checked against Keras 3.15.1: optimizers make all of their variables by `add_variable`, and those that belong to a
weight by `add_variable_from_reference`, which calls it; updates of weights, averages and accumulated gradients
included, are computed inside `apply`.
"""

from __future__ import annotations

import contextlib
import contextvars
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Final

import jax
from jax.sharding import NamedSharding
from keras.src.optimizers.base_optimizer import BaseOptimizer

from unisono._src import hooks, jax_hooks
from unisono._src.devices import VariableInfo
from unisono._src.keras_hooks._attributes import get_owner
from unisono._src.keras_hooks._on_read_variables import is_on_read
from unisono._src.replicas import context

_ROLE: Final = "_unisono_optimizer_role"

# By identity: variables cannot be hashed, since == compares their values.
_owned: dict[int, weakref.ref[Any]] = {}

_is_updating: Final = contextvars.ContextVar("_is_updating", default=False)
_creating: Final[contextvars.ContextVar[tuple[Any] | None]] = contextvars.ContextVar("_creating", default=None)


def install_optimizer_variable_roles() -> None:
    """Installs the hook."""
    why = "the variables of an optimizer are stored like the weights that they belong to"
    hooks.wrap(
        BaseOptimizer,
        "add_variable",
        _note_optimizer,
        expects="(self, shape, initializer='zeros', dtype=None, aggregation='none', layout=None, name=None)",
        why=why,
    )
    hooks.wrap(
        BaseOptimizer,
        "add_variable_from_reference",
        _note_reference,
        expects="(self, reference_variable, name=None, initializer='zeros')",
        why=why,
    )


def current_reference() -> Any:
    """The weight for which an optimizer makes a variable just now; None otherwise."""
    role = _creating.get()
    return None if role is None else role[0]


def note_role(variable: Any) -> None:
    """To be called with every variable before it has a value: remembers whether an optimizer makes it."""
    role = _creating.get()
    if role is not None:
        setattr(variable, _ROLE, role)
    remember_owned(variable)


def remember_owned(variable: Any) -> None:
    """To be called with a variable that has got an owner."""
    owner = get_owner(variable)
    if owner is not None and owner.placement.shards_variables:
        key = id(variable)
        _owned[key] = weakref.ref(variable, lambda _: _owned.pop(key, None))


def owned_variables(strategy: context.HasPlacement) -> list[Any]:
    """The variables of a strategy that may be sharded, in the order in which they were made."""
    alive = [reference() for reference in list(_owned.values())]
    return [
        variable
        for variable in alive
        if variable is not None and get_owner(variable) is strategy and not is_on_read(variable)
        if getattr(variable, "_value", None) is not None
    ]


def slot_reference(variable: Any) -> Any:
    """The weight to which a variable of an optimizer belongs; None for any other variable."""
    role = getattr(variable, _ROLE, None)
    return None if role is None else role[0]


def variable_info(variable: Any) -> VariableInfo:
    """What decides how a variable is stored."""
    reference = slot_reference(variable)
    return VariableInfo(
        tuple(variable.shape),
        variable.path,
        of_optimizer=hasattr(variable, _ROLE),
        slot_of=None if reference is None else variable_info(reference),
    )


def layout_of(variable: Any) -> NamedSharding:
    """How a variable of a strategy is stored, or will be if it has no value yet."""
    owner = get_owner(variable)
    assert owner is not None, "only variables of a strategy have a layout"
    value = getattr(variable, "_value", None)
    return owner.placement.layout(variable_info(variable) if value is None else value)


@contextlib.contextmanager
def updating_weights() -> Iterator[None]:
    """Around an optimizer's update: variables are read as they are stored."""
    token = _is_updating.set(True)
    try:
        yield
    finally:
        _is_updating.reset(token)


def gather_for_read(variable: Any, value: Any) -> Any:
    """``value`` of a variable as code reads it: in a program over all devices, and outside updates, whole."""
    owner = get_owner(variable)
    if owner is None or not owner.placement.shards_variables or not isinstance(value, jax.core.Tracer):
        return value
    if _is_updating.get() or _is_one_of_several_replicas():
        return value
    stored = layout_of(variable)
    whole = owner.placement.read_layout(stored)
    if whole.is_equivalent_to(stored, value.ndim):
        return value
    return jax_hooks.gather_weight(value, whole=whole, sharded=stored)


def constrain_gradients(gradients: Sequence[Any], variables: Sequence[Any] | None) -> list[Any]:
    """Gradients in the layouts in which updates are computed, for variables that a strategy shards."""
    return [
        _constrain_gradient(gradient, variable)
        for gradient, variable in zip(gradients, variables or [None] * len(gradients), strict=False)
    ]


def _constrain_gradient(gradient: Any, variable: Any) -> Any:
    owner = get_owner(variable)
    if owner is None or not owner.placement.shards_variables or not isinstance(gradient, jax.core.Tracer):
        return gradient
    if _is_one_of_several_replicas():
        return gradient
    layout = owner.placement.update_layout(variable_info(variable))
    if layout is None:
        return gradient
    stored = layout_of(variable)
    if not stored.is_equivalent_to(layout, gradient.ndim):
        gradient = jax_hooks.sum_gradient(gradient, whole=owner.placement.read_layout(stored))
    return jax.lax.with_sharding_constraint(gradient, layout)


def _is_one_of_several_replicas() -> bool:
    """Whether this is the program of one replica, where values are whole and XLA takes no constraints."""
    replica = context.current_replica()
    return replica is not None and replica.axis is not None


def _note_optimizer(original: Any) -> Any:
    def add_variable(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _creating.get() is not None:
            return original(self, *args, **kwargs)
        with _creating_variable(None):
            return original(self, *args, **kwargs)

    return add_variable


def _note_reference(original: Any) -> Any:
    def add_variable_from_reference(self: Any, reference_variable: Any, *args: Any, **kwargs: Any) -> Any:
        with _creating_variable(reference_variable):
            return original(self, reference_variable, *args, **kwargs)

    return add_variable_from_reference


@contextlib.contextmanager
def _creating_variable(reference: Any) -> Iterator[None]:
    token = _creating.set((reference,))
    try:
        yield
    finally:
        _creating.reset(token)
