"""Hook: models that take text. Devices hold numbers only, so the layers that take text run on the host.

The graph of a functional or Sequential model is cut behind those layers. The part before the cut makes numbers of each
batch on the host; the batch that goes to the devices is a dict of what crosses the cut, and the model, called with
such a dict, continues from there. It stays one model: its variables, its `compile`, its custom steps and its files.

Checked against Keras 3.15.1: `Functional._nodes_by_depth` holds the graph; `node.arguments.fill_in` gives a node's
arguments; `Functional.call` standardizes its inputs by `_standardize_inputs`, which converts them in
`_convert_inputs_to_tensors`; `Sequential._functional` is its graph once it is built, and `Sequential.call` calls that;
`Sequential.build` puts an `InputLayer` first; `Layer.__call__` converts its arguments, and refuses what is no tensor,
unless `_convert_input_args` and `_allow_non_tensor_positional_args` say otherwise.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import jax
import keras
import numpy as np
from keras.src.layers.layer import Layer
from keras.src.models.functional import Functional, unpack_singleton

from unisono._src import hooks
from unisono._src.data.plans import CompositeLeaf
from unisono._src.keras_hooks._layer_calls import CallHandler, handle_layer_calls
from unisono._src.keras_hooks._ragged_inputs import mask_ragged_inputs
from unisono._src.keras_hooks._training_argument import call_operation, check_operation_calls

TEXT_ON_HOST: Final = """Text stays on the host: {why}.
Put the layer that takes it into the dataset, dataset.map(lambda x, y: (vectorize(x), y)), or make it the first layer of
a Sequential or functional model: Sequential([vectorize, ...])."""

TRAINED_ON_HOST: Final = """{layer!r} takes text and has weights to train, but what takes text runs on the host.
Put the layers that take text before it: Sequential([vectorize, model]) instead of a model with both inside."""

_CROSSING: Final = "crossing_the_cut_{}"


@dataclass(frozen=True, eq=False)
class HostPart:
    """The part of a model that runs on the host.

    Attributes:
        graph: the functional model that it is a part of.
        before: its nodes before the cut, in order.
        after: its nodes after the cut.
        crossing: the tensors that cross it.
    """

    graph: Any
    before: list[Any]
    after: list[Any]
    crossing: list[Any]

    def __call__(self, x: Any) -> dict[str, Any]:
        """What crosses the cut for a batch of inputs, as the model takes it instead of them."""
        values = dict(zip(map(id, self.graph.inputs), self.graph._standardize_inputs(x), strict=True))
        _run(self.before, values, training=False)
        return {
            _CROSSING.format(number): _as_crossing(values[id(tensor)], tensor.dtype)
            for number, tensor in enumerate(self.crossing)
        }

    def run_after_cut(self, crossed: dict[str, Any], **options: Any) -> Any:
        """The model's outputs."""
        values = {
            id(tensor): mask_ragged_inputs(crossed[_CROSSING.format(number)])
            for number, tensor in enumerate(self.crossing)
        }
        _run(self.after, values, **options)
        outputs = [values[id(tensor)] for tensor in self.graph.outputs]
        return unpack_singleton(keras.tree.pack_sequence_as(self.graph._outputs_struct, outputs))


def is_text(leaf: Any) -> bool:
    """Whether it is text, or an array of text."""
    kind = getattr(getattr(leaf, "dtype", None), "kind", None)
    if kind == "O":  # texts, or anything else
        return any(isinstance(each, str | bytes) for each in np.asarray(leaf, object).reshape(-1)[:1])
    return isinstance(leaf, str | bytes) or kind in {"S", "U", "T"}


def runs_on_host(model: Any) -> bool:
    """Whether a model or a layer takes text, or says that it cannot be compiled (`layer.runs_on_host`)."""
    if getattr(model, "runs_on_host", False):
        return True
    graph = _graph_of(model)
    if graph is not None:
        return _host_part_of(graph) is not None
    return isinstance(model, keras.Sequential) and bool(model.layers) and runs_on_host(model.layers[0])


def host_part(model: Any, x_spec: Callable[[], Any], trains: bool) -> HostPart | None:
    """The part of a model that runs on the host, if there is one.

    A Sequential that does not know its input yet learns it from the shape of ``x_spec()``.
    """
    if not runs_on_host(model):
        return None
    if _graph_of(model) is None:
        (leaf,) = keras.tree.flatten(x_spec())
        model.build((None, *leaf.shape[1:]))
    part = _host_part_of(_graph_of(model))
    assert part is not None, "it runs on the host, and is built"
    for tensor in part.crossing:
        if tensor.dtype == "string":
            raise TypeError(TEXT_ON_HOST.format(why=f"{model.name!r} has text among its outputs"))
    for node in part.before if trains else ():
        if getattr(node.operation, "trainable_variables", None):
            raise NotImplementedError(TRAINED_ON_HOST.format(layer=node.operation.name))
    return part


def install_text_inputs() -> None:
    """Installs the hook."""
    why = "text stays on the host: layers and models accept it without making JAX arrays of it"
    handle_layer_calls(CallHandler(name="text", adapt=_keep_text))
    for attribute in ("_convert_input_args", "_allow_non_tensor_positional_args"):
        hooks.require(Layer, attribute, expects="instance attribute", why=why)
    hooks.wrap(Functional, "_standardize_inputs", _standardize_text, expects="(self, inputs)", why=why)
    hooks.wrap(Functional, "_convert_inputs_to_tensors", _convert_all_but_text, expects="(self, flat_inputs)", why=why)
    hooks.wrap(keras.Sequential, "build", _build_for_text, expects="(self, input_shape=None)", why=why)
    why = "a model whose layers for text have run on the host continues after them"
    check_operation_calls()
    call = ("(self, inputs, training=None, mask=None, **kwargs)", "(self, inputs, training=None, mask=None)")
    hooks.wrap(Functional, "call", _continue_after_cut, expects=call, why=why)
    hooks.wrap(Functional, "_assert_input_compatibility", _accept_crossed, expects="(self, *args)", why=why)
    hooks.require(Functional, "_nodes_by_depth", expects="instance attribute", why="where to cut the graph")


def _keep_text(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if args and not isinstance(args[0], jax.Array) and any(map(is_text, keras.tree.flatten(args[0]))):
        # A layer that has once been given text is one that takes it: JAX's arrays could not hold it.
        layer._convert_input_args = False
        layer._allow_non_tensor_positional_args = True
        args = (keras.tree.map_structure(_as_numpy, args[0]), *args[1:])
    return args, kwargs


def _standardize_text(original: Any) -> Any:
    def standardize(self: Any, inputs: Any) -> Any:
        alone = isinstance(inputs, np.ndarray) and isinstance(self._inputs_struct, list | tuple)
        return original(self, [inputs] if alone else inputs)  # as Keras does it with a tensor

    return standardize


def _convert_all_but_text(original: Any) -> Any:
    def convert(self: Any, flat_inputs: list[Any]) -> list[Any]:
        if not any(tensor.dtype == "string" for tensor in self._inputs):
            return original(self, flat_inputs)  # type: ignore[no-any-return]
        return [
            _with_dims(x, len(tensor.shape)) if tensor.dtype == "string" else _convert(x, tensor.dtype)
            for x, tensor in zip(flat_inputs, self._inputs, strict=True)
        ]

    return convert


def _build_for_text(original: Any) -> Any:
    def build(self: Any, input_shape: Any = None) -> None:
        if _is_one_shape(input_shape) and self._layers and runs_on_host(self._layers[0]):
            self._layers.insert(0, keras.layers.InputLayer(batch_shape=tuple(input_shape), dtype="string"))
        original(self, input_shape)

    return build


def _continue_after_cut(original: Any) -> Any:
    def call(self: Any, inputs: Any, training: Any = None, mask: Any = None, **kwargs: Any) -> Any:
        if _has_crossed(inputs):
            part = _host_part_of(self)
            assert part is not None, "what has crossed the cut came from this part"
            return part.run_after_cut(inputs, training=training, **kwargs)
        return original(self, inputs, training=training, mask=mask, **kwargs)

    return call


def _accept_crossed(original: Any) -> Any:
    def check(self: Any, *args: Any) -> Any:
        return None if _has_crossed(args[0]) else original(self, *args)

    return check


_parts: weakref.WeakKeyDictionary[Any, HostPart | None] = weakref.WeakKeyDictionary()


def _host_part_of(graph: Any) -> HostPart | None:
    if graph not in _parts:
        _parts[graph] = _cut(graph)
    return _parts[graph]


def _cut(graph: Any) -> HostPart | None:
    by_depth = graph._nodes_by_depth
    nodes = [node for depth in sorted(by_depth, reverse=True) for node in by_depth[depth] if not node.is_input]
    needed: set[int] = set()
    before: list[Any] = []
    for node in reversed(nodes):  # what a layer on the host takes is made on the host too
        takes_text = any(tensor.dtype == "string" for tensor in node.input_tensors)
        if takes_text or runs_on_host(node.operation) or any(id(tensor) in needed for tensor in node.outputs):
            needed.update(map(id, node.input_tensors))
            before.insert(0, node)
    if not before:
        return None
    after = [node for node in nodes if node not in before]
    made = {id(tensor) for node in after for tensor in node.outputs}
    taken = [tensor for node in after for tensor in node.input_tensors] + graph.outputs
    crossing = list({id(tensor): tensor for tensor in taken if id(tensor) not in made}.values())
    return HostPart(weakref.proxy(graph), before, after, crossing)


def _as_crossing(value: Any, dtype: str) -> Any:
    if isinstance(value, CompositeLeaf):
        return keras.tree.map_structure(np.asarray, value.model_input())
    return np.asarray(value).astype(dtype)


def _run(nodes: list[Any], values: dict[int, Any], **options: Any) -> None:
    for node in nodes:
        args, kwargs = node.arguments.fill_in(values)
        outputs = call_operation(node.operation, args, kwargs, options)
        values.update(zip(map(id, node.outputs), keras.tree.flatten(outputs), strict=True))


def _graph_of(model: Any) -> Any:
    return model if isinstance(model, Functional) else getattr(model, "_functional", None)


def _has_crossed(inputs: Any) -> bool:
    return isinstance(inputs, dict) and _CROSSING.format(0) in inputs


def _is_one_shape(shape: Any) -> bool:
    return isinstance(shape, tuple | list) and all(size is None or isinstance(size, int) for size in shape)


def _as_numpy(leaf: Any) -> Any:
    """Numbers that are given together with text, as NumPy arrays: Keras refuses a mix of tensors and others."""
    return np.asarray(leaf) if isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer) else leaf


def _convert(x: Any, dtype: str) -> Any:
    return None if x is None else keras.ops.convert_to_tensor(x, dtype=str(jax.dtypes.canonicalize_dtype(dtype)))


def _with_dims(x: Any, num_dims: int) -> Any:
    """Text with a last dimension of 1 more or less, as Keras does it with numbers."""
    if isinstance(x, keras.KerasTensor) or x is None:
        return x
    text = np.asarray(x, None if isinstance(x, np.ndarray) else object)
    if text.ndim == num_dims - 1:
        return x[..., None] if isinstance(x, np.ndarray) else text[..., None]
    return x[..., 0] if text.ndim == num_dims + 1 and text.shape[-1] == 1 else x
