"""Hook: Keras's own steps can be called with the data only, as `super().train_step(data)` in TensorFlow's signature.

Checked against Keras 3.15.1: with JAX the steps are `train_step(state, data)` and `test_step(state, data)`, which give
logs and the new state, and `predict_step(state, data)`, which returns outputs and the new non-trainable variables. The
state is the values of `trainable_variables`, `non_trainable_variables`, the optimizer's (training) and the metrics'
(not when predicting). `_symbolic_build` makes what does not exist yet.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from keras.src.backend.jax.trainer import JAXTrainer

from unisono._src import hooks
from unisono._src.keras_hooks._variables import enclosing_state_scope, raw_value
from unisono._src.replicas import context

OUTSIDE = """{name}(data) was called outside fit, evaluate and predict. Call model.{method}(...) for a single batch."""

_ON_BATCH = {"train_step": "train_on_batch", "test_step": "test_on_batch", "predict_step": "predict_on_batch"}


def install_steps_without_state() -> None:
    """Installs the hook."""
    for name in _ON_BATCH:
        hooks.wrap(
            JAXTrainer,
            name,
            functools.partial(_without_state, name),
            expects="(self, state, data)",
            why="super().train_step(data), as in TensorFlow, works in a custom step",
        )


def has_tf_signature(model: Any, step: str) -> bool:
    """Whether this step of the model has TensorFlow's signature: `train_step(self, data)`, without the state."""
    method = getattr(model, step)
    if getattr(method, "__func__", method) is getattr(JAXTrainer, step):
        return False
    parameters = inspect.signature(method).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [each for each in parameters if each.kind in kinds and each.default is each.empty]
    return len(needed) == 1 and not any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters)


def is_traced(model: Any) -> bool:
    """Whether its steps are traced and compiled; else they run line by line."""
    return bool(model.jit_compile) and not model.run_eagerly


def step_state_variables(model: Any, step: str) -> list[list[Any]]:
    """The variables whose values Keras's step takes as its state, in groups."""
    groups = [list(model.trainable_variables), list(model.non_trainable_variables)]
    if step == "train_step":
        groups.append([] if model.optimizer is None else list(model.optimizer.variables))
    if step != "predict_step":
        groups.append(list(model.metrics_variables))
    return groups


def _without_state(name: str, original: Any) -> Any:
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) + len(kwargs) != 1:
            return original(self, *args, **kwargs)
        if enclosing_state_scope() is None and context.current_replica() is None:
            raise RuntimeError(OUTSIDE.format(name=name, method=_ON_BATCH[name]))
        (data,) = args or kwargs.values()
        if name != "predict_step":
            self._symbolic_build(data_batch=data)
        groups = step_state_variables(self, name)
        result, state = original(self, tuple([raw_value(each) for each in group] for group in groups), data)
        written = [groups[1]] if name == "predict_step" else groups
        for group, values in zip(written, [state] if name == "predict_step" else state, strict=True):
            for variable, value in zip(group, values, strict=True):
                variable.assign(value)
        return result

    return step
