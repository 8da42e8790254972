"""Layers with arguments and attributes of Keras 2: `input_shape=`, `add_weight("name", ...)`, `output_shape`."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, Final

import keras

from unisono.tf.keras._gone import Gone

# Keras 3 takes these two and says that Input is nicer, which a script that ran for years need not be told.
_SHAPE_ARGUMENTS: Final = ("input_shape", "input_dim", "batch_input_shape", "input_length")

_DROPPED_FOR_WEIGHTS: Final = ("use_resource", "partitioner", "synchronization", "experimental_autocast", "getter")

ADD_METRIC = """add_metric is not there in Keras 3. Make the metric in __init__, update it in train_step or after fit,
    self.tracker = tf.keras.metrics.Mean(name="...")
or pass it to compile(metrics=[...])."""

NOT_CALLED_ONCE = (
    "The layer {name!r} has no {which}: it was not called on a tensor of a functional model, or several times."
)


def give_old_names() -> None:
    """Puts them onto Keras's classes."""
    kind = keras.Layer
    kind.__init__ = _taking_shapes(kind.__init__)
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
    }
    for layer, names in renamed.items():
        layer.__init__ = _renaming(layer.__init__, names)
    for layer in (keras.layers.AveragePooling1D, keras.layers.AveragePooling2D, keras.layers.AveragePooling3D):
        layer.__init__ = _defaulting(layer.__init__, "pool_size", 2)


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


def _taking_shapes(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        old = {name: kwargs.pop(name) for name in _SHAPE_ARGUMENTS if kwargs.get(name) is not None}
        if not old:
            original(self, *args, **kwargs)
            return
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Do not pass an `input_shape`", UserWarning)
            original(self, *args, **kwargs, input_shape=_input_shape(**old))

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # Keras reads it
    return init


def _input_shape(
    input_shape: Any = None, input_dim: int | None = None, batch_input_shape: Any = None, input_length: Any = None
) -> tuple[int | None, ...]:
    if batch_input_shape is not None:
        return tuple(batch_input_shape)[1:]
    if input_shape is not None:
        return (input_shape,) if isinstance(input_shape, int) else tuple(input_shape)
    return (input_dim,) if input_length is None else (input_length, input_dim)


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
