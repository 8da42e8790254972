"""Hooks: layers with arguments, attributes and calls of Keras 2: `add_weight("name", ...)`, `LeakyReLU(alpha=1)`,
`output_shape`, `self.dropout(x, training)`; states of recurrent layers that continue from batch to batch.

Checked against Keras 3.15.1: it takes nothing but tensors by position. `RNN.states` are variables that no layer tracks.
A step on JAX takes and gives back what is in `variables`: there the state would stay as it was, in `fit`, `evaluate`
and `predict`. The `weights` of the layer, which files hold, are other lists and stay without it, as in Keras 2.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Final

import keras
import numpy as np

from unisono._src import hooks
from unisono._src.keras_hooks._layer_calls import CallHandler, handle_layer_calls

_DROPPED_FOR_WEIGHTS: Final = ("use_resource", "partitioner", "synchronization", "experimental_autocast", "getter")

# What Keras 2's layers accepted by position after the inputs.
_BY_NAME: Final = ("training", "mask")

ADD_METRIC = """add_metric is not there in Keras 3. Make the metric in __init__, update it in train_step or after fit,
    self.tracker = tf.keras.metrics.Mean(name="...")
or pass it to compile(metrics=[...])."""

NOT_CALLED_ONCE = (
    "The layer {name!r} has no {which}: it was not called on a tensor of a functional model, or several times."
)

_ADD_WEIGHT: Final = (
    "(self, *args, shape=None, initializer=None, dtype=None, trainable=True, autocast=True, regularizer=None, "
    "constraint=None, aggregation='none', overwrite_with_gradient=False, name=None)"
)
_ADD_VARIABLE: Final = (
    "(self, shape, initializer, dtype=None, trainable=True, autocast=True, regularizer=None, constraint=None, "
    "name=None)"
)
_INPUT_LAYER: Final = (
    "(self, shape=None, batch_size=None, dtype=None, sparse=None, ragged=None, batch_shape=None, input_tensor=None, "
    "optional=False, name=None, **kwargs)"
)
_POOLING: Final = "(self, pool_size, strides=None, padding='valid', data_format=None, name=None, **kwargs)"

# Arguments that were renamed, or that mean nothing any more; the arguments that a layer must pass on.
_RENAMED: Final[list[tuple[Any, dict[str, str | None], str]]] = [
    (keras.layers.LeakyReLU, {"alpha": "negative_slope"}, "(self, negative_slope=0.3, **kwargs)"),
    (keras.layers.InputLayer, {"input_shape": "shape", "batch_input_shape": "batch_shape"}, _INPUT_LAYER),
    (keras.layers.Embedding, {"input_length": None}, "type function"),
    (keras.layers.BatchNormalization, {"fused": None}, "type function"),  # XLA decides
]


def _layers_inside(layer: Any) -> tuple[Any, ...]:
    return tuple(layer._flatten_layers(include_self=False))


def install_layer_names(missing_name_error: type[AttributeError]) -> None:
    """Installs the names and arguments."""
    kind, why = keras.Layer, "scripts use the names of Keras 2"
    hooks.wrap(kind, "add_weight", _accept_name_first, expects=_ADD_WEIGHT, why=why)
    hooks.patch(kind, "add_variable", kind.add_weight, expects=_ADD_VARIABLE, why=why)
    removed = RemovedAttribute(ADD_METRIC, missing_name_error)
    hooks.patch(kind, "add_metric", removed, expects="(self, *args, **kwargs)", why="tells what to write instead")
    hooks.add(kind, "add_update", _ignore_update, why=why)
    hooks.add(kind, "submodules", property(_layers_inside), why=why)
    hooks.add(kind, "input_shape", _ShapeOf("input"), why=why)
    hooks.add(kind, "output_shape", _ShapeOf("output"), why=why)
    for layer, names, expects in _RENAMED:
        hooks.wrap(layer, "__init__", functools.partial(_rename_arguments, names), expects=expects, why=why)
    for layer in (keras.layers.AveragePooling1D, keras.layers.AveragePooling2D, keras.layers.AveragePooling3D):
        make = functools.partial(_restore_default, "pool_size", 2)
        hooks.wrap(layer, "__init__", make, expects=_POOLING, why="pool_size has the default that it had in Keras 2")
    why = "Keras 3 has an empty list there"
    output = property(lambda self: self.output)
    expects = "source 4b913298fd26"
    hooks.patch(keras.layers.InputLayer, "input", output, expects=expects, why=why, inherited=True)
    why = "Input(3), Input(ragged=True) and Input(sparse=True), as in Keras 2"
    hooks.wrap(keras.layers.InputLayer, "__init__", _accept_old_inputs, expects=_INPUT_LAYER, why=why)


def install_positional_training() -> None:
    """Installs the handler for `self.dropout(x, training)`, and for `call(self, x, training)` without a default."""
    why = "names for the arguments that Keras 3 does not take by position"
    hooks.require(keras.Layer, "_call_signature", expects="instance attribute", why=why)
    handle_layer_calls(CallHandler(name="keras2 positions", adapt=_name_arguments))


def install_rnn_state_carryover() -> None:
    """Installs the hook by which states of stateful recurrent layers continue in compiled steps."""
    why = "the state of RNN(stateful=True) continues from batch to batch"
    hooks.wrap(keras.layers.RNN, "variables", _with_states, expects="source a23c8b9a0696", why=why, inherited=True)
    hooks.require(keras.layers.RNN, "states", expects="instance attribute", why=why)


def _ignore_update(self: Any, updates: Any) -> None:
    """As in TensorFlow 2, where assigning is enough."""


def _name_arguments(
    layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if args and type(args[0]) in (list, tuple) and _is_numbers(args[0]):
        args = (_to_array(args[0]), *args[1:])
    signature = getattr(layer, "_call_signature", None)  # without it, Keras says that `super().__init__()` is missing
    if signature is not None:
        if any(_is_required(signature.parameters.get(name)) for name in _BY_NAME):
            signature = _add_defaults(layer)
        if len(args) > 1:
            args, named = _divide(args, signature)
            kwargs = {**named, **kwargs}
    return args, kwargs


def _is_required(parameter: inspect.Parameter | None) -> bool:
    return (
        parameter is not None and parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    )


def _add_defaults(layer: Any) -> inspect.Signature:
    """Keras 2 called `call(self, inputs, training)` without a value too, and with None for a mask.

    Keras 3 needs the default in the signature: the function of the class gets it, as if it were written there.
    """
    function = inspect.unwrap(type(layer).call)
    parameters = list(inspect.signature(function).parameters.values())
    by_position = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    last = [each for each in reversed(by_position) if each.name in _BY_NAME or each.default is not each.empty]
    if isinstance(function, types.FunctionType):
        if by_position[-len(last) :] == last[::-1]:
            function.__defaults__ = tuple(None if each.default is each.empty else each.default for each in last[::-1])
        only_named = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.name in _BY_NAME]
        function.__kwdefaults__ = {**dict.fromkeys(only_named), **(function.__kwdefaults__ or {})} or None
    signature = inspect.signature(layer.call)
    layer._call_signature = signature
    return signature


def _is_numbers(value: Any) -> bool:
    """Whether it is a list of lists of numbers, as in `layer([[1.0, 2.0]])`; several inputs are a list of arrays."""
    if type(value) in (list, tuple):
        return bool(value) and all(map(_is_numbers, value))
    return isinstance(value, int | float | np.number)


def _to_array(numbers: Any) -> Any:
    array = np.asarray(numbers)
    return array.astype({"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype))


def _divide(args: tuple[Any, ...], signature: inspect.Signature) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that stay, and those from the first one on that Keras would refuse, by name.

    All stay if one of them has no name in the signature of `call`.
    """
    names = [name for name, each in signature.parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    if len(args) > len(names):
        return args, {}
    first = next((index for index in range(1, len(args)) if _needs_name(names[index], args[index])), len(args))
    return args[:first], dict(zip(names[first:], args[first:], strict=False))


def _needs_name(name: str, value: Any) -> bool:
    return name in _BY_NAME or isinstance(value, bool | int | float | str)


def _with_states(original: Any) -> Any:
    def variables(self: Any) -> list[Any]:
        found: list[Any] = original.fget(self)
        states = keras.tree.flatten(self.states) if self.stateful and self.states is not None else []
        return found + [each for each in states if isinstance(each, keras.Variable)]

    return property(variables, doc=original.__doc__)


class RemovedAttribute:
    """A member that Keras 3 removed: reading it says what to write instead.

    An attribute of the same name that a user sets on an object is found before it.

    Args:
        text: what to write instead.
        error: the class of the error.
    """

    def __init__(self, text: str, error: type[AttributeError]) -> None:
        self._text = text
        self._error = error

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        raise self._error(self._text)

    def __repr__(self) -> str:
        return f"RemovedAttribute({self._text!r})"


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


def _accept_name_first(original: Callable[..., Any]) -> Callable[..., Any]:
    """Keras 2 took the name first: `add_weight("kernel", (3, 4))`."""

    def add(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], str):
            kwargs["name"], args = args[0], args[1:]
        for name in _DROPPED_FOR_WEIGHTS:
            kwargs.pop(name, None)
        if kwargs.get("trainable", ...) is None:
            del kwargs["trainable"]
        return original(self, *args, **kwargs)

    return add


def _rename_arguments(names: dict[str, str | None], original: Callable[..., None]) -> Callable[..., None]:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        for old, new in names.items():
            if old in kwargs:
                value = kwargs.pop(old)
                if new is not None and value is not None:
                    kwargs[new] = value
        original(self, *args, **kwargs)

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # Keras reads it
    return init


def _accept_old_inputs(original: Callable[..., None]) -> Callable[..., None]:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if args:
            args = (_to_shape(args[0]), *args[1:])
        elif "shape" in kwargs:
            kwargs["shape"] = _to_shape(kwargs["shape"])
        # Every model takes ragged and sparse tensors: it computes with the dense array, and a mask of the row lengths.
        kwargs.update({name: False for name in ("sparse", "ragged") if kwargs.get(name)})
        original(self, *args, **kwargs)

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # Keras reads it
    return init


def _to_shape(shape: Any) -> Any:
    return (shape,) if isinstance(shape, int) else shape


def _restore_default(name: str, default: Any, original: Callable[..., None]) -> Callable[..., None]:
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
