"""Layers with arguments and attributes of Keras 2: `add_weight("name", ...)`, `LeakyReLU(alpha=1)`, `output_shape`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

import keras

from unisono.tf.keras._gone import Gone

_DROPPED_FOR_WEIGHTS: Final = ("use_resource", "partitioner", "synchronization", "experimental_autocast", "getter")

ADD_METRIC = """add_metric is not there in Keras 3. Make the metric in __init__, update it in train_step or after fit,
    self.tracker = tf.keras.metrics.Mean(name="...")
or pass it to compile(metrics=[...])."""

NOT_DENSE = """Input({name}=True): there are no {name} tensors here. Make the rows dense in the dataset, with
`padded_batch` or `tf.one_hot`, and leave `{name}` out."""

NOT_CALLED_ONCE = (
    "The layer {name!r} has no {which}: it was not called on a tensor of a functional model, or several times."
)


def give_old_names() -> None:
    """Puts them onto Keras's classes."""
    kind = keras.Layer
    kind.add_weight = _named_first(kind.add_weight)
    kind.add_variable = kind.add_weight
    kind.add_metric = Gone(ADD_METRIC)
    kind.add_update = lambda self, updates: None  # as in TensorFlow 2, where assigning is enough
    kind.input_shape = _ShapeOf("input")
    kind.output_shape = _ShapeOf("output")
    renamed: dict[Any, dict[str, str | None]] = {
        keras.layers.LeakyReLU: {"alpha": "negative_slope"},
        keras.layers.InputLayer: {"input_shape": "shape", "batch_input_shape": "batch_shape"},
        keras.layers.Embedding: {"input_length": None},
        keras.layers.BatchNormalization: {"fused": None},  # XLA decides
    }
    for layer, names in renamed.items():
        layer.__init__ = _renaming(layer.__init__, names)
    for layer in (keras.layers.AveragePooling1D, keras.layers.AveragePooling2D, keras.layers.AveragePooling3D):
        layer.__init__ = _defaulting(layer.__init__, "pool_size", 2)
    keras.layers.InputLayer.input = property(lambda self: self.output)  # Keras 3 has an empty list there
    keras.layers.InputLayer.__init__ = _dense(keras.layers.InputLayer.__init__)


class _ShapeOf:
    """The shape of the tensor that a layer was called on, or gave. What a user sets on a layer is found before it."""

    def __init__(self, which: str) -> None:
        self._which = which

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        try:
            tensors = getattr(instance, self._which)
        except (AttributeError, ValueError) as error:
            text = NOT_CALLED_ONCE.format(name=instance.name, which=f"{self._which}_shape")
            raise AttributeError(text) from error
        return keras.tree.map_structure(lambda tensor: tensor.shape, tensors)


def _named_first(original: Callable[..., Any]) -> Callable[..., Any]:
    """Keras 2 took the name first: `add_weight("kernel", (3, 4))`."""

    @functools.wraps(original)
    def add(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], str):
            kwargs["name"], args = args[0], args[1:]
        for name in _DROPPED_FOR_WEIGHTS:
            kwargs.pop(name, None)
        if kwargs.get("trainable", ...) is None:
            del kwargs["trainable"]
        return original(self, *args, **kwargs)

    return add


def _renaming(original: Callable[..., None], names: dict[str, str | None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        for old, new in names.items():
            if old in kwargs:
                value = kwargs.pop(old)
                if new is not None and value is not None:
                    kwargs[new] = value
        original(self, *args, **kwargs)

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # Keras reads it
    return init


def _dense(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        for name in ("sparse", "ragged"):
            if kwargs.get(name):
                raise NotImplementedError(NOT_DENSE.format(name=name))
        original(self, *args, **kwargs)

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # Keras reads it
    return init


def _defaulting(original: Callable[..., None], name: str, default: Any) -> Callable[..., None]:
    """Gives an argument back the default that it had."""
    signature = inspect.signature(original)
    parameters = [
        each.replace(default=default) if each.name == name else each for each in signature.parameters.values()
    ]
    signature = signature.replace(parameters=parameters)

    @functools.wraps(original)
    def init(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        original(*bound.args, **bound.kwargs)

    init.__signature__ = signature  # type: ignore[attr-defined]  # Keras reads it
    return init
