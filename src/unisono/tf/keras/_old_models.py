"""Keras's models with the methods and arguments of Keras 2."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Final

import keras

from unisono._src import keras_hooks
from unisono._src.strategy import InputContext, get_strategy
from unisono.tf._spec import TensorSpec
from unisono.tf.keras._dataset_creator import DatasetCreator
from unisono.tf.keras._gone import Gone

# Keras 2's `fit` read ahead with threads or processes if told so. Here data is always read ahead.
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


def give_old_names() -> None:
    """Puts them onto Keras's class."""
    kind = keras.Model
    for name in ("fit", "evaluate", "predict"):
        setattr(kind, name, _reading_ahead(getattr(kind, name)))
    kind.fit_generator = lambda self, generator, *args, **kwargs: self.fit(generator, **_named(_FIT, args, kwargs))
    kind.evaluate_generator = lambda self, generator, *args, **kwargs: self.evaluate(
        generator, **_named(_EVALUATE, args, kwargs)
    )
    kind.predict_generator = lambda self, generator, *args, **kwargs: self.predict(
        generator, **_named(_PREDICT, args, kwargs)
    )
    keras_hooks.refuse_symbolic_losses(SYMBOLIC_LOSS)
    kind.compiled_loss = property(keras_hooks.CompiledLoss)
    kind.compiled_metrics = property(keras_hooks.CompiledMetrics)
    kind.metrics_names = property(keras_hooks.metric_names)
    kind.predict_classes = Gone(PREDICT_CLASSES)
    kind.predict_proba = Gone(PREDICT_PROBA)
    kind.save_spec = _save_spec
    kind.reset_states = _reset_states
    kind.distribute_strategy = property(lambda self: keras_hooks.get_owner(self) or get_strategy())
    # Keras 3 has these of functional models alone; a Sequential one that is built is one as well.
    keras.Sequential.input = property(lambda self: _single(self.inputs))
    keras.Sequential.output = property(lambda self: _single(self.outputs))


# The order of arguments after the generator.
_FIT: Final = ("steps_per_epoch", "epochs", "verbose", "callbacks", "validation_data", "validation_steps")
_EVALUATE: Final = ("steps", "callbacks")
_PREDICT: Final = ("steps", "callbacks")


def _named(names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(names, args, strict=False)) | kwargs


def _single(tensors: list[Any]) -> Any:
    return tensors[0] if len(tensors) == 1 else tensors


def _reset_states(self: Any) -> None:
    """Begins anew with the state of every layer that keeps one from batch to batch."""
    for layer in self._flatten_layers(include_self=False):
        if getattr(layer, "stateful", False) and hasattr(layer, "reset_state"):
            layer.reset_state()


def _save_spec(self: Any, dynamic_batch: bool = True) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """What the model is called with, as specs of (args, kwargs) for any size of batch; None if it is not built."""
    if not dynamic_batch:
        raise NotImplementedError("save_spec(dynamic_batch=False): the size of a batch is not kept; leave it out.")
    if not self.built:
        return None
    args = keras.tree.map_structure(lambda spec: TensorSpec(spec.shape, spec.dtype), keras_hooks.input_signature(self))
    return tuple(args), {}


def _created(model: Any, data: Any) -> Any:
    """The dataset that a DatasetCreator makes; anything else as it is."""
    if not isinstance(data, DatasetCreator):
        return data
    strategy: Any = keras_hooks.get_owner(model)
    if strategy is None:
        return data.dataset_fn(InputContext())
    return strategy.distribute_datasets_from_function(data.dataset_fn, data.input_options)


def _reading_ahead(original: Callable[..., Any]) -> Callable[..., Any]:
    parameters = inspect.signature(original).parameters

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        for name in _READING_AHEAD:
            kwargs.pop(name, None)
        args = (_created(self, args[0]), *args[1:]) if args else args
        kwargs = {name: _created(self, value) for name, value in kwargs.items()}
        if "shuffle" in parameters and isinstance(args[0] if args else kwargs.get("x"), types.GeneratorType):
            kwargs.setdefault("shuffle", False)  # else Keras says that it cannot
        return original(self, *args, **kwargs)

    return method
