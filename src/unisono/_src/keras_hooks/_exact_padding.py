"""Whether a model gives the same results if its sequences are padded, and with which values.

The layers of a Sequential or functional model are followed from the inputs to the outputs. An input is padded if every
layer that reads it makes a mask of the padding (`Embedding(mask_zero=True)`, `Masking`). Ragged rows have a mask from
the start, that of their lengths. From there on, only layers of a list are allowed, until a layer removes the time axis
and respects the mask. Every other layer, and an output that has a time axis, means that nothing is padded. Checked
against Keras 3.15.1, layer by layer: test_exact_padding.py. Keras computes masks by operations that are in the graph
too; they are left out, as the layers that read them are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import keras
from keras.src.models.functional import Functional

from unisono._src import hooks
from unisono._src.keras_hooks._ragged_inputs import RaggedRows, fold_ragged_rows

_layers = keras.layers

# Each works on one time step at a time, and passes the mask on.
_PER_STEP: Final = frozenset(
    [_layers.Dense, _layers.Activation, _layers.ReLU, _layers.LeakyReLU, _layers.ELU, _layers.Identity]
)
# Their random numbers have the shape of the sequence.
_RANDOM: Final = frozenset([_layers.Dropout, _layers.GaussianNoise, _layers.GaussianDropout, _layers.AlphaDropout])
_RECURRENT: Final = frozenset([_layers.LSTM, _layers.GRU, _layers.SimpleRNN])
_MERGING: Final = frozenset(
    [_layers.Add, _layers.Subtract, _layers.Multiply, _layers.Average, _layers.Maximum, _layers.Minimum]
)


@dataclass(frozen=True)
class ExactPadding:
    """How the inputs of a model may be padded along their second axis.

    Attributes:
        structure: the nest of the model's inputs.
        values: the padding value of each input, flattened; None for those that are not padded.
        are_ragged: whether each input is masked by the lengths of its rows.
    """

    structure: Any
    values: tuple[float | None, ...]
    are_ragged: tuple[bool, ...]


class _NotExactError(Exception):
    pass


@dataclass(frozen=True)
class _Sequence:
    """A tensor with a padded time axis. ``source``: the input it comes from. ``has_mask``: its padding is masked."""

    source: int
    has_mask: bool


def check_padding_analysis() -> None:
    """Checks that Keras keeps the graph of a model where it is read here."""
    why = "batches of many lengths are padded if the layers of the model allow it"
    hooks.require(keras.Function, "_nodes_by_depth", expects="instance attribute", why=why)
    hooks.require(keras.Function, "_inputs_struct", expects="instance attribute", why=why)
    hooks.require(keras.Sequential, "_functional", expects="instance attribute", why=why)


def find_exact_padding(model: Any, *, trains: bool, x: Any = None) -> ExactPadding | str:
    """How ``model`` may be padded without changing its results; or why not, as the end of a sentence.

    ``trains``: whether layers that draw random numbers while training do so. ``x``: the inputs of a batch, or their
    specs; they say which inputs are ragged.
    """
    graph = model._functional if type(model) is keras.Sequential else model
    if type(graph) is not Functional:
        return f"{type(model).__name__} is not a Sequential or functional model, so its layers are not known"
    nodes = _data_nodes(graph)
    leaves = keras.tree.flatten(fold_ragged_rows(x))
    are_ragged = [isinstance(leaf, RaggedRows) for leaf in leaves]
    if len(leaves) != len(graph.inputs):  # not what the model declares: such batches are not padded
        are_ragged = [False] * len(graph.inputs)
    values = tuple(map(partial(_padding_value, nodes), graph.inputs, are_ragged))
    if all(value is None for value in values):
        return "no input is read by an Embedding with mask_zero=True or a Masking layer alone"
    found: dict[int, _Sequence | None] = {
        id(tensor): None if value is None else _Sequence(index, has_mask=is_ragged)
        for index, (tensor, value, is_ragged) in enumerate(zip(graph.inputs, values, are_ragged, strict=True))
    }
    try:
        for node in nodes:
            inputs = [found[id(tensor)] for tensor in _data_tensors(node)]
            # What does not depend on the padding may go through any layer.
            output = None if all(each is None for each in inputs) else _follow(node, inputs, trains)
            found.update({id(tensor): output for tensor in node.outputs})
    except _NotExactError as error:
        return str(error)
    if any(found[id(tensor)] is not None for tensor in graph.outputs):
        return "an output of the model has a time axis"
    return ExactPadding(graph._inputs_struct, values, tuple(are_ragged))


def _data_nodes(graph: Any) -> list[Any]:
    """The calls of layers between inputs and outputs, each after those that it depends on, without those of masks."""
    makers = {id(tensor): node for nodes in graph._nodes_by_depth.values() for node in nodes for tensor in node.outputs}
    needed: set[int] = set()
    waiting = [makers[id(tensor)] for tensor in graph.outputs]
    while waiting:
        node = waiting.pop()
        if id(node) not in needed:
            needed.add(id(node))
            waiting += [makers[id(tensor)] for tensor in _data_tensors(node)]
    ordered = [node for depth in sorted(graph._nodes_by_depth, reverse=True) for node in graph._nodes_by_depth[depth]]
    return [node for node in ordered if id(node) in needed and not node.is_input]


def _data_tensors(node: Any) -> list[Any]:
    """The tensors that a layer was called with, except its mask."""
    named = {name: value for name, value in node.arguments.kwargs.items() if name != "mask"}
    return [each for each in keras.tree.flatten((node.arguments.args, named)) if isinstance(each, keras.KerasTensor)]


def _has_own_mask(node: Any) -> bool:
    """Whether the layer was called with a mask that is not the one of its input."""
    mask = node.arguments.kwargs.get("mask")
    return mask is not None and mask is not getattr(_data_tensors(node)[0], "_keras_mask", None)


def _padding_value(nodes: list[Any], tensor: Any, is_ragged: bool) -> float | None:
    """What all layers that read the input take for padding; None if there is no such value, or no time axis.

    The padding of ragged rows may have any value. A model that was built by a ragged batch declares its length.
    """
    if len(tensor.shape) < 2 or (tensor.shape[1] is not None and not is_ragged):
        return None
    if is_ragged:
        return 0
    layers = [node.operation for node in nodes if any(each is tensor for each in _data_tensors(node))]
    values = {_masked_value(layer) for layer in layers}
    return values.pop() if len(values) == 1 else None


def _masked_value(layer: Any) -> float | None:
    if type(layer) is _layers.Embedding and layer.mask_zero:
        return 0
    return float(layer.mask_value) if type(layer) is _layers.Masking else None


def _follow(node: Any, inputs: list[_Sequence | None], trains: bool) -> _Sequence | None:
    """What the layer makes of its inputs, some of which have a padded time axis; None for a result without one."""
    layer, kind = node.operation, type(node.operation)
    sequences = {each for each in inputs if each is not None}
    if getattr(layer, "activity_regularizer", None) is not None:
        raise _NotExactError(f"the layer {layer.name!r} has an activity_regularizer, which counts padding")
    if _has_own_mask(node):
        raise _NotExactError(f"the layer {layer.name!r} was called with a mask")
    first = inputs[0]
    if len(inputs) == 1 and first is not None and not first.has_mask and _masked_value(layer) is not None:
        return _Sequence(first.source, has_mask=True)
    num_dims = [len(tensor.shape) for tensor in _data_tensors(node)]
    if first is not None and first.has_mask and kind is _layers.Embedding and num_dims == [2]:
        return first
    # With two dims, the last one is the time axis, which most layers compute along.
    if all(each.has_mask for each in sequences) and min(num_dims) > 2:
        if len(inputs) == 1 and _keeps_steps(layer, trains):
            return first
        if len(inputs) == 1 and _is_exact_recurrence(layer):
            return first if layer.return_sequences else None
        if kind is _layers.GlobalAveragePooling1D and layer.data_format == "channels_last":
            return None
        if kind is _layers.MultiHeadAttention and _is_exact_attention(node, trains):
            return first
        merges = kind in _MERGING or (kind is _layers.Concatenate and layer.axis in (-1, 2))
        if merges and None not in inputs and len(sequences) == 1:
            return first
    if kind in _RANDOM:
        raise _NotExactError(f"the layer {layer.name!r} ({kind.__name__}) draws a random number for every time step")
    raise _NotExactError(f"the layer {layer.name!r} ({kind.__name__}) is not known to ignore padding")


def _keeps_steps(layer: Any, trains: bool) -> bool:
    """Whether each step of the result depends on the same step of the input alone."""
    kind = type(layer)
    if kind in _PER_STEP:
        return _is_keras_function(getattr(layer, "activation", None))
    if kind is _layers.LayerNormalization:
        return layer.axis in (-1, [-1], (-1,))
    return kind is _layers.SpatialDropout1D or (kind in _RANDOM and not trains)


def _is_keras_function(activation: Any) -> bool:
    """Keras's own activation functions work on single numbers or on the last axis."""
    return activation is None or getattr(activation, "__module__", "").startswith("keras.src.activations")


def _is_exact_recurrence(layer: Any) -> bool:
    if type(layer) is _layers.Bidirectional:
        both = (layer.forward_layer, layer.backward_layer)
        return layer.merge_mode is not None and all(map(_is_exact_recurrence, both))
    if type(layer) not in _RECURRENT or layer.stateful or layer.return_state or layer.unroll:
        return False
    return layer.return_sequences or not layer.zero_output_for_mask


def _is_exact_attention(node: Any, trains: bool) -> bool:
    """Whether masks alone decide what is attended to, on sequences of vectors."""
    call = node.arguments.kwargs
    if call.get("attention_mask") is not None or call.get("return_attention_scores") or len(node.arguments.args) > 3:
        return False
    draws = trains and node.operation.dropout > 0
    return not draws and all(len(tensor.shape) == 3 for tensor in _data_tensors(node))
