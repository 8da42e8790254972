"""Hook: an optimizer that is applied on each replica applies the sum of all gradients, and so the same on all.

Checked against Keras 3.15.1: `BaseOptimizer.apply` and `LossScaleOptimizer.apply` are where gradients come in;
`apply_gradients` calls `apply`. The sum is taken before clipping, unscaling and all else, as Keras 2 did. Once it is
built, an optimizer keeps the variables that it trains in `_trainable_variables`. Its learning rate, a variable or a
schedule, is in `_learning_rate`, which a step reads by `_get_current_learning_rate`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import jax
import keras
import numpy as np
from keras.src.optimizers.base_optimizer import BaseOptimizer
from keras.src.optimizers.loss_scale_optimizer import LossScaleOptimizer

from unisono._src import hooks, jax_hooks
from unisono._src.keras_hooks._variable_layouts import constrain_gradients, updating_weights
from unisono._src.keras_hooks._variables import enclosing_state_scope
from unisono._src.replicas import context

_ELEMENT_BY_ELEMENT: Final = frozenset(
    {
        keras.optimizers.SGD,
        keras.optimizers.Adam,
        keras.optimizers.AdamW,
        keras.optimizers.Adamax,
        keras.optimizers.Nadam,
        keras.optimizers.RMSprop,
        keras.optimizers.Adagrad,
        keras.optimizers.Adadelta,
        keras.optimizers.Ftrl,
        keras.optimizers.Lion,
    }
)


NO_GRADIENTS = """No gradients provided for any variable: the gradient of the loss is None for all of them.
Compute the loss from the variables inside the tape:
    with unisono.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)"""


def install_gradient_all_reduce() -> None:
    """Installs the hook."""
    why = "an optimizer applies the sum of all replicas' gradients"
    for kind in (BaseOptimizer, LossScaleOptimizer):
        hooks.wrap(kind, "apply", _sum_first, expects="(self, grads, trainable_variables=None)", why=why)
    hooks.wrap(
        BaseOptimizer,
        "apply_gradients",
        _accept_summed,
        expects="(self, grads_and_vars)",
        why="apply_gradients(..., skip_gradients_aggregation=True) leaves gradients as they are",
    )
    hooks.require(BaseOptimizer, "apply_gradients", expects="calls apply", why=why)
    for name in ("_learning_rate", "_iterations"):
        hooks.require(BaseOptimizer, name, expects="instance attribute", why="the learning rate of a step")
    hooks.require(
        BaseOptimizer,
        "_trainable_variables",
        expects="instance attribute",
        why="which variables an optimizer trains",
    )
    why = "find_learning_rate varies the learning rate of any optimizer"
    hooks.require(BaseOptimizer, "_get_current_learning_rate", expects="(self)", why=why)


def trained_variables(optimizer: Any) -> list[Any]:
    """The variables that an optimizer trains; none before it is built."""
    return list(getattr(optimizer, "_trainable_variables", ()))


@contextlib.contextmanager
def use_learning_rate(optimizer: Any, schedule: Any) -> Iterator[None]:
    """In this block the optimizer follows ``schedule``, also one whose learning rate cannot be set.

    Its own learning rate, if it is a variable, stays one of its variables. Steps that were traced before or inside have
    to be traced again.
    """
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)  # that of a LossScaleOptimizer
    before = optimizer._learning_rate
    object.__setattr__(optimizer, "_learning_rate", schedule)  # Keras's own would track the variable a second time
    try:
        yield
    finally:
        object.__setattr__(optimizer, "_learning_rate", before)


def learning_rate_reader(model: Any) -> Callable[[], float | None]:
    """A function that reads the learning rate of the model's optimizer; it waits for the last step that was started.

    A schedule is compiled, once: evaluated operation by operation, each of its operations would be.
    """
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    compiled: dict[int, Any] = {}

    def read() -> float | None:
        rate = getattr(optimizer, "_learning_rate", None)
        if isinstance(rate, keras.optimizers.schedules.LearningRateSchedule):
            call = compiled.setdefault(id(rate), rate if model.run_eagerly else jax.jit(rate.__call__))
            return float(call(np.asarray(optimizer._iterations.value)))
        if callable(rate) and not isinstance(rate, keras.Variable):
            rate = rate()
        return None if rate is None else float(np.asarray(getattr(rate, "value", rate)))

    return read


def _accept_summed(original: Any) -> Any:
    def apply_gradients(
        self: Any,
        grads_and_vars: Any,
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
        experimental_aggregate_gradients: bool = True,
    ) -> Any:
        """As in Keras. The other arguments are those of Keras 2, for a caller that has summed already."""
        replica = context.current_replica()
        if replica is not None and (skip_gradients_aggregation or not experimental_aggregate_gradients):
            with replica.assigning_same_values():
                return original(self, grads_and_vars)
        return original(self, grads_and_vars)

    return apply_gradients


def _sum_first(original: Any) -> Any:
    def update(self: Any, grads: list[Any], variables: list[Any], trainable_variables: Any) -> Any:
        with updating_weights():
            return original(self, constrain_gradients(grads, variables), trainable_variables)

    def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        replica, grads = context.current_replica(), list(jax_hooks.mark_gradients(grads))
        if grads and all(gradient is None for gradient in grads):
            raise ValueError(NO_GRADIENTS)
        variables = trained_variables(self) if trainable_variables is None else list(trainable_variables)
        if replica is None or replica.is_updating:
            return update(self, grads, variables, trainable_variables)
        scope = enclosing_state_scope()
        parts: dict[int, Any] = {}
        if scope is not None and replica.axis is not None and _updates_elements(self, variables):
            parts = scope.sharded_updates(variables, self.variables)
        is_scattered = [id(variable) in parts for variable in variables] or [False] * len(grads)
        present = [index for index, grad in enumerate(grads) if grad is not None and not is_scattered[index]]
        for index, total in zip(present, replica.sum([grads[index] for index in present]), strict=True):
            grads[index] = total
        for index, variable in enumerate(variables):
            if is_scattered[index] and grads[index] is not None:
                assert scope is not None
                grads[index] = scope.sum_and_scatter(grads[index], parts[id(variable)])
        with contextlib.ExitStack() as stack:
            stack.enter_context(replica.assigning_same_values())
            if parts and scope is not None:
                stack.enter_context(scope.updating_shards([*variables, *self.variables], parts))
            return update(self, grads, variables, trainable_variables)

    return apply


def _updates_elements(optimizer: Any, variables: list[Any]) -> bool:
    """Whether each element of a weight is updated by its own gradient alone, so that shards can be updated apart."""
    if type(optimizer) not in _ELEMENT_BY_ELEMENT or not optimizer.built:
        return False
    clips_norms = optimizer.clipnorm is not None or optimizer.global_clipnorm is not None
    return not clips_norms and all(variable.constraint is None for variable in variables)
