"""How many bytes rematerialized layers keep for the backward pass, and how many they would keep without.

The model is traced with shapes alone. In that trace each layer is differentiated by itself, as it is and without
rematerialization: what the backward pass takes from the forward pass is what is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import jax
import jax.numpy as jnp
import keras
from jax.extend.core import Jaxpr, Literal

from unisono._src import keras_hooks

# What does not grow with the rows of a batch (weights, casts of them, statistics) is the same for both numbers. Models
# that pair rows, or divide them into groups, need even ones.
_ROWS: Final = (8, 16)


@dataclass(frozen=True)
class LayerCall:
    """One call of a rematerialized layer.

    Attributes:
        layer: the layer.
        is_inside: whether it is inside of the call of another one.
        kept: the bytes that are kept for the backward pass.
        kept_without: the bytes that would be kept without rematerialization.
    """

    layer: Any
    is_inside: bool
    kept: int
    kept_without: int


def kept_activations(model: Any, layers: Sequence[Any]) -> list[LayerCall] | None:
    """The calls of ``layers`` in a call of ``model``, with the bytes for each row of a batch.

    None if the shapes or dtypes of the inputs of the model are not known.
    """
    spec = keras_hooks.input_spec(model)
    if spec is None or not layers:
        return None
    fewer, more = (_trace_calls(model, spec, rows, layers) for rows in _ROWS)
    rows = _ROWS[1] - _ROWS[0]
    return [
        LayerCall(
            one.layer, one.is_inside, (other.kept - one.kept) // rows, (other.kept_without - one.kept_without) // rows
        )
        for one, other in zip(fewer, more, strict=True)
    ]


def _trace_calls(model: Any, spec: Any, rows: int, layers: Sequence[Any]) -> list[LayerCall]:
    variables, observer = model.variables, _Observer(layers)

    def call(values: Any, inputs: Any) -> None:
        with keras.StatelessScope(state_mapping=zip(variables, values, strict=True)):
            model(inputs, training=True)

    inputs = keras.tree.map_structure(lambda each: jax.ShapeDtypeStruct((rows, *each.shape[1:]), each.dtype), spec)
    with keras_hooks.observe_rematerialized_layers(observer.observe):
        jax.eval_shape(call, list(map(_struct, variables)), inputs)
    return observer.calls


@dataclass(eq=False)
class _Observer:
    """Counts where the layers are called, inside of their context: mixed precision, `training`."""

    layers: Sequence[Any]
    calls: list[LayerCall] = field(default_factory=list)
    _depth: int = 0

    def observe(self, layer: Any, without: Callable[..., Any], call: Callable[..., Any]) -> Callable[..., Any]:
        if not any(layer is each for each in self.layers):
            return call

        def count_and_call(*args: Any, **kwargs: Any) -> Any:
            with keras_hooks.observe_rematerialized_layers(None):
                kept = _kept_bytes(layer, call, args, kwargs)
                with keras_hooks.without_rematerialization():
                    kept_without = _kept_bytes(layer, without, args, kwargs)
            self.calls.append(LayerCall(layer, self._depth > 0, kept, kept_without))
            self._depth += 1
            try:
                return call(*args, **kwargs)
            finally:
                self._depth -= 1

        return count_and_call


def _kept_bytes(layer: Any, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    leaves, tree = jax.tree.flatten((args, kwargs))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]
    trained = {id(variable) for variable in layer.trainable_variables}
    is_differentiated = [id(variable) in trained for variable in layer.variables]
    is_differentiated += [jnp.issubdtype(leaves[place].dtype, jnp.inexact) for place in places]

    def forward(differentiated: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        sources = iter(differentiated), iter(others)
        values = [next(sources[0] if differs else sources[1]) for differs in is_differentiated]
        variables = layer.variables
        inputs = dict(zip(places, values[len(variables) :], strict=True))
        args, kwargs = jax.tree.unflatten(tree, [inputs.get(place, leaf) for place, leaf in enumerate(leaves)])
        with keras.StatelessScope(state_mapping=zip(variables, values[: len(variables)], strict=True)):
            result = call(*args, **kwargs)
        return [leaf for leaf in jax.tree.leaves(result) if isinstance(leaf, jax.Array)]

    def backward_pass(differentiated: Sequence[Any], others: Sequence[Any]) -> Any:
        return jax.vjp(lambda given: forward(given, others), differentiated)[1]

    structs = [*map(_struct, layer.variables), *(_struct(leaves[place]) for place in places)]
    pairs = list(zip(structs, is_differentiated, strict=True))
    program = jax.make_jaxpr(backward_pass)(
        [struct for struct, differs in pairs if differs], [struct for struct, differs in pairs if not differs]
    ).jaxpr
    kept = _computed_from_inputs(program) & {atom for atom in program.outvars if not isinstance(atom, Literal)}
    return sum(math.prod(atom.aval.shape) * atom.aval.dtype.itemsize for atom in kept)


def _computed_from_inputs(program: Jaxpr) -> set[Any]:
    """The inputs and what depends on them. The rest are constants, such as the zeros of relu, which need no memory."""
    found = set(program.invars)
    for equation in program.eqns:
        if any(atom in found for atom in equation.invars if not isinstance(atom, Literal)):
            found.update(equation.outvars)
    return found


def _struct(value: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(tuple(value.shape), value.dtype)
