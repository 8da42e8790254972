"""Hook: building a model, its metrics and its optimizer from the shape of a batch, and Keras's checks around `fit`.

Checked against Keras 3.15.1: `_symbolic_build(data_batch=...)` builds what is not built yet and needs only shapes
and dtypes; `_assert_compile_called`, `_should_eval`, `_flatten_metrics_in_order` and `_initial_epoch` are used by
its own loop.
"""

from __future__ import annotations

from typing import Any

import keras
from keras.src.backend.jax.trainer import JAXTrainer
from keras.src.trainers.trainer import Trainer

from unisono._src import hooks
from unisono._src.keras_hooks._training_call import call_before_prediction

OVERRIDDEN_FUNCTION = """{model} overrides `{name}`, which makes functions for Keras's own loop; under a strategy they
would never be called. Override `train_step`, `test_step` or `predict_step` instead."""


def check_trainer_methods() -> None:
    """Checks that Keras's trainer has the private methods that our loops call."""
    why = "our loops build, check and log as Keras's own loop does"
    for owner, name, expects in (
        (JAXTrainer, "_symbolic_build", "(self, iterator=None, data_batch=None)"),
        (Trainer, "_assert_compile_called", "(self, method_name=None)"),
        (Trainer, "_should_eval", "(self, epoch, validation_freq)"),
        (Trainer, "_flatten_metrics_in_order", "(self, logs)"),
        (Trainer, "_initial_epoch", "instance attribute"),
        (keras.Layer, "_flatten_layers", "(self, include_self=True, recursive=True)"),
    ):
        hooks.require(owner, name, expects=expects, why=why)


def check_compiled(model: Any, method: str) -> None:
    """Raises Keras's error unless `compile` was called."""
    model._assert_compile_called(method)


def check_step_functions(model: Any) -> None:
    """Raises ``NotImplementedError`` for overrides that our loop would never call."""
    for name in ("make_train_function", "make_test_function", "make_predict_function"):
        if getattr(type(model), name) is not getattr(JAXTrainer, name):
            raise NotImplementedError(OVERRIDDEN_FUNCTION.format(model=type(model).__name__, name=name))


def build_for_training(model: Any, batch_spec: Any) -> None:
    """Creates all variables that training or evaluation needs."""
    model._symbolic_build(data_batch=batch_spec)


def build_for_prediction(model: Any, x_spec: Any) -> None:
    """Creates the model's own variables."""
    if not all(layer.built for layer in model._flatten_layers()):
        keras_inputs = keras.tree.map_structure(lambda leaf: keras.KerasTensor(leaf.shape, str(leaf.dtype)), x_spec)
        keras.src.backend.compute_output_spec(model, keras_inputs, training=False)
    call_before_prediction(model, x_spec)


def first_epoch(model: Any, initial_epoch: int) -> int:
    """The epoch to begin with, which a callback such as BackupAndRestore may have set in `on_train_begin`."""
    return int(model._initial_epoch or initial_epoch)


def validates_after(model: Any, epoch: int, validation_freq: Any) -> bool:
    """Whether this epoch ends with a validation."""
    return bool(model._should_eval(epoch, validation_freq))


def flatten_logs(model: Any, logs: dict[str, Any]) -> Any:
    """Logs as the list that `evaluate` returns, or a single value."""
    return model._flatten_metrics_in_order(logs)


def finish_optimizer(model: Any) -> None:
    """After the last epoch: averaged weights, if the optimizer keeps them, become the weights."""
    if isinstance(model.optimizer, keras.optimizers.Optimizer):
        model.optimizer.finalize_variable_values(model.trainable_weights)
