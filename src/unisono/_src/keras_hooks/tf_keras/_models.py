"""Hooks: models with the methods and arguments of Keras 2.

Checked against Keras 3.15.1: the losses and metrics given to `compile` are `_compile_loss` and `_compile_metrics`, and
the loss of the logs is `_loss_tracker`; `Functional.add_loss` raises without a message.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Final

import keras
from keras.src.models.functional import Functional
from keras.src.trainers.trainer import Trainer

from unisono._src import hooks
from unisono._src.keras_hooks._attributes import input_signature
from unisono._src.keras_hooks._trainer import adapt_arguments_of
from unisono._src.keras_hooks.tf_keras._layers import RemovedAttribute

# Keras 2's `fit` read ahead with threads or processes on request. Here data is always read ahead.
_READING_AHEAD: Final = ("workers", "use_multiprocessing", "max_queue_size")

SYMBOLIC_LOSS = """add_loss() was given a symbolic tensor, as Keras 2 allowed for functional models. Put the loss into a
layer that is called on the tensors it needs:
    class Endpoint(tf.keras.layers.Layer):
        def call(self, predicted, wanted):
            self.add_loss(tf.reduce_mean((predicted - wanted) ** 2))
            return predicted"""

PREDICT_CLASSES = """model.predict_classes(x) is not there since TensorFlow 2.6. Write
    np.argmax(model.predict(x), axis=-1)         for a softmax at the end,
    (model.predict(x) > 0.5).astype("int32")     for a sigmoid."""

PREDICT_PROBA = "model.predict_proba(x) is not there since TensorFlow 2.6. Write model.predict(x)."


def install_model_names(
    *,
    missing_name_error: type[AttributeError],
    make_spec: Callable[[Any, Any], Any],
    make_dataset: Callable[[Any, Any], Any],
    get_strategy: Callable[[Any], Any],
) -> None:
    """Installs the hooks.

    Args:
        missing_name_error: raised for methods that are gone.
        make_spec: makes a `tf.TensorSpec` of a shape and a dtype.
        make_dataset: of a model and an argument of `fit`, the argument, or the dataset that a DatasetCreator makes.
        get_strategy: of a model.
    """
    kind, why = keras.Model, "scripts use the names of Keras 2"
    adapt_arguments_of(("fit", "evaluate", "predict"), functools.partial(_drop_arguments, make_dataset))
    hooks.patch(Functional, "add_loss", _refuse_loss, expects="(self, loss)", why="tells what to write instead")
    hooks.patch(kind, "metrics_names", property(_metric_names), expects="source 7ede7cfdb0ab", why=why, inherited=True)
    for attribute in ("_compile_loss", "_compile_metrics", "_loss_tracker"):
        hooks.require(Trainer, attribute, expects="instance attribute", why="compiled_loss and compiled_metrics")
    added = {
        "fit_generator": _fit_generator,
        "evaluate_generator": _evaluate_generator,
        "predict_generator": _predict_generator,
        "compiled_loss": property(CompiledLoss),
        "compiled_metrics": property(CompiledMetrics),
        "predict_classes": RemovedAttribute(PREDICT_CLASSES, missing_name_error),
        "predict_proba": RemovedAttribute(PREDICT_PROBA, missing_name_error),
        "save_spec": functools.partialmethod(_save_spec, make_spec),
        "reset_states": _reset_states,
        "distribute_strategy": property(get_strategy),
    }
    for name, value in added.items():
        hooks.add(kind, name, value, why=why)
    why = "Keras 3 has these of functional models alone; a Sequential one that is built is one as well"
    inputs, outputs = property(lambda self: _single(self.inputs)), property(lambda self: _single(self.outputs))
    hooks.patch(keras.Sequential, "input", inputs, expects="source 4b913298fd26", why=why, inherited=True)
    hooks.patch(keras.Sequential, "output", outputs, expects="source 627253b51634", why=why, inherited=True)


def _refuse_loss(self: Any, loss: Any) -> None:
    raise NotImplementedError(SYMBOLIC_LOSS)


# The order of arguments after the generator.
_FIT: Final = ("steps_per_epoch", "epochs", "verbose", "callbacks", "validation_data", "validation_steps")
_EVALUATE: Final = ("steps", "callbacks")
_PREDICT: Final = ("steps", "callbacks")


def _name_arguments(names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(names, args, strict=False)) | kwargs


def _fit_generator(self: Any, generator: Any, *args: Any, **kwargs: Any) -> Any:
    return self.fit(generator, **_name_arguments(_FIT, args, kwargs))


def _evaluate_generator(self: Any, generator: Any, *args: Any, **kwargs: Any) -> Any:
    return self.evaluate(generator, **_name_arguments(_EVALUATE, args, kwargs))


def _predict_generator(self: Any, generator: Any, *args: Any, **kwargs: Any) -> Any:
    return self.predict(generator, **_name_arguments(_PREDICT, args, kwargs))


def _single(tensors: list[Any]) -> Any:
    return tensors[0] if len(tensors) == 1 else tensors


def _reset_states(self: Any) -> None:
    """Resets the state of every layer that keeps one from batch to batch."""
    for layer in self._flatten_layers(include_self=False):
        if getattr(layer, "stateful", False) and hasattr(layer, "reset_state"):
            layer.reset_state()


def _save_spec(
    self: Any, make_spec: Callable[[Any, Any], Any], dynamic_batch: bool = True
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """What the model is called with, as specs of (args, kwargs) for any size of batch; None if it is not built."""
    if not dynamic_batch:
        raise NotImplementedError("save_spec(dynamic_batch=False): the size of a batch is not kept; leave it out.")
    if not self.built:
        return None
    args = keras.tree.map_structure(lambda spec: make_spec(spec.shape, spec.dtype), input_signature(self))
    return tuple(args), {}


def _drop_arguments(
    make_dataset: Callable[[Any, Any], Any],
    model: Any,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, Any]:
    args = (make_dataset(model, args[0]), *args[1:]) if args else args
    kwargs = {name: make_dataset(model, value) for name, value in kwargs.items() if name not in _READING_AHEAD}
    if "shuffle" in signature.parameters and isinstance(args[0] if args else kwargs.get("x"), types.GeneratorType):
        kwargs.setdefault("shuffle", False)  # else Keras refuses it
    return args, kwargs


class CompiledLoss:
    """`model.compiled_loss` of Keras 2: the loss that was given to `compile`. Calling it adds to the logs."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None, regularization_losses: Any = None) -> Any:
        """The loss of a batch, with other losses added to it."""
        losses = list(regularization_losses or ())
        if self._model._compile_loss is not None:
            found = self._model._compile_loss(y_true, y_pred, sample_weight)
            losses = losses if found is None else [found, *losses]
        if not losses:
            raise ValueError("compiled_loss was called, and there is no loss. Give compile() one: loss=...")
        total = functools.reduce(keras.ops.add, losses)
        rows = keras.tree.flatten(y_pred)[0].shape[0]
        self._model._loss_tracker.update_state(total, sample_weight=rows)
        return total

    @property
    def metrics(self) -> list[Any]:
        """The metric that holds the loss."""
        return [self._model._loss_tracker]

    def reset_state(self) -> None:
        """Resets it."""
        self._model._loss_tracker.reset_state()


class CompiledMetrics:
    """`model.compiled_metrics` of Keras 2: the metrics that were given to `compile`."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Adds a batch."""
        if self._model._compile_metrics is not None:
            self._model._compile_metrics.update_state(y_true, y_pred, sample_weight)

    @property
    def metrics(self) -> list[Any]:
        """The metrics, once they have seen a batch."""
        compiled = self._model._compile_metrics
        return [] if compiled is None or not compiled.built else list(compiled.metrics)

    def result(self) -> dict[str, Any]:
        """Their results by name."""
        return {} if self._model._compile_metrics is None else dict(self._model._compile_metrics.result())

    def reset_state(self) -> None:
        """Resets it."""
        if self._model._compile_metrics is not None:
            self._model._compile_metrics.reset_state()


def _metric_names(model: Any) -> list[str]:
    """The names of a compiled model's logs, as far as they are known: those of metrics after the first batch."""
    names = []
    for metric in model.metrics:
        if metric is not model._compile_metrics:
            names.append(metric.name)
        elif metric.built:
            names += list(metric.result())
    return names
