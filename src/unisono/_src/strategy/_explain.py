"""`strategy.explain(model)`: where every variable of a model is stored, why, what a training step moves, and what its
rematerialized layers keep."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
from jax.sharding import NamedSharding

from unisono._src import keras_hooks
from unisono._src.core import format_bytes
from unisono._src.devices import Placement, ShardedPlacement
from unisono._src.strategy._kept_activations import LayerCall, kept_activations

NOT_BUILT = """strategy.explain: {name!r} has no variables yet. Build it first: start it with keras.Input(shape), call
model.build(input_shape), or call it on a batch."""

OTHER_STRATEGY = """strategy.explain: the variable {path!r} was created in the scope of {owner!r}, not of this strategy.
Call explain of that one."""


@dataclass(frozen=True)
class VariableRow:
    """One variable.

    Attributes:
        path: its path.
        shape: its shape.
        layout: for each dimension the mesh axis over which it is sharded, or None.
        nbytes: the bytes of the whole value.
        device_nbytes: the bytes that one device stores.
        reason: why it is stored so.
        is_like_weight: whether it is an optimizer's, and stored like the weight that it belongs to.
    """

    path: str
    shape: tuple[int, ...]
    layout: tuple[Any, ...]
    nbytes: int
    device_nbytes: int
    reason: str
    is_like_weight: bool = False


@dataclass(frozen=True)
class RematerializedRow:
    """A layer whose activations are computed again for the gradient.

    Attributes:
        path: its path.
        policy: what is kept, in words.
        kept: the bytes that are kept for the backward pass for each row of a batch, the inputs of the layer included;
            None if the shapes of the model's inputs are not known.
        kept_without: the same without rematerialization.
    """

    path: str
    policy: str
    kept: int | None
    kept_without: int | None


@dataclass(frozen=True)
class StateReport:
    """Where the state of a model is.

    Attributes:
        rows: a row for each variable of the model, its metrics and its optimizer.
        gathered: the bytes that each device receives in a training step because weights are gathered.
        scattered: the bytes of gradients that each device sends to the devices that store the weights.
        rematerialized: a row for each layer whose activations are computed again.
        lines: what is printed.
    """

    rows: tuple[VariableRow, ...]
    gathered: int
    scattered: int
    rematerialized: tuple[RematerializedRow, ...]
    lines: tuple[str, ...]

    @property
    def nbytes(self) -> int:
        """The bytes of the whole state."""
        return sum(row.nbytes for row in self.rows)

    @property
    def device_nbytes(self) -> int:
        """The bytes that one device stores."""
        return sum(row.device_nbytes for row in self.rows)

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        size, stored = format_bytes(self.nbytes), format_bytes(self.device_nbytes)
        return f"<StateReport: {len(self.rows)} variables, {size}, {stored} on each device>"


def explain(strategy: Any, model: Any) -> StateReport:
    """The report on ``model``, whose variables belong to ``strategy``."""
    placement: Placement = strategy.placement
    variables = [*model.variables, *(model.optimizer.variables if getattr(model, "optimizer", None) else ())]
    if not variables:
        raise ValueError(NOT_BUILT.format(name=model.name))
    placement.check_layouts()
    rows, gathered, scattered = [], 0, 0
    trained = {id(variable) for variable in model.trainable_variables}
    for variable in variables:
        owner = keras_hooks.get_owner(variable)
        if owner is not None and owner is not strategy:
            raise ValueError(OTHER_STRATEGY.format(path=variable.path, owner=owner))
        info = keras_hooks.variable_info(variable)
        layout = placement.layout(info if variable._value is None else variable._value)
        reason = placement.decide(info).reason if isinstance(placement, ShardedPlacement) else "mirrored"
        reference = keras_hooks.slot_reference(variable)
        is_like_weight = reference is not None and placement.layout(reference._value) == layout
        rows.append(_row(variable, layout, reason, is_like_weight))
        if not info.of_optimizer:
            received, sent = _traffic(variable, layout, placement, is_trained=id(variable) in trained)
            gathered, scattered = gathered + received, scattered + sent
    rematerialized, activations = _rematerialized(model, placement)
    lines = (*_lines(rows, placement, gathered, scattered, model), *activations)
    return StateReport(tuple(rows), gathered, scattered, rematerialized, lines)


def _row(variable: Any, layout: NamedSharding, reason: str, is_like_weight: bool) -> VariableRow:
    shape, itemsize = tuple(variable.shape), _itemsize(variable.dtype)
    spec = (*layout.spec, *[None] * (len(shape) - len(layout.spec)))
    stored = math.prod(layout.shard_shape(shape)) * itemsize
    return VariableRow(variable.path, shape, spec, math.prod(shape) * itemsize, stored, reason, is_like_weight)


def _traffic(variable: Any, stored: NamedSharding, placement: Placement, *, is_trained: bool) -> tuple[int, int]:
    """The bytes that a device receives for one weight in a step, and those of its gradient that it sends away."""
    shape = tuple(variable.shape)
    read = placement.read_layout(stored)
    compute_bytes = math.prod(read.shard_shape(shape)) * min(_compute_itemsize(variable), _itemsize(variable.dtype))
    kept = math.prod(stored.shard_shape(shape)) / math.prod(read.shard_shape(shape))
    # Once in the forward pass, and once more in the backward pass if there is one.
    received = int(compute_bytes * (1 - kept)) * (2 if is_trained else 1)
    if not is_trained:
        return received, 0
    update = placement.update_layout(keras_hooks.variable_info(variable)) or stored
    share = math.prod(update.shard_shape(shape)) / math.prod(read.shard_shape(shape))
    if not update.is_equivalent_to(stored, len(shape)):
        received += int(math.prod(shape) * _itemsize(variable.dtype) * (1 - share))  # the new weights, from the shards
    return received, int(compute_bytes * (1 - share))


def _compute_itemsize(variable: Any) -> int:
    policy = keras.config.dtype_policy()
    is_cast = getattr(variable, "_autocast", False) and policy.compute_dtype != policy.variable_dtype
    return _itemsize(policy.compute_dtype) if is_cast else _itemsize(variable.dtype)


def _itemsize(dtype: Any) -> int:
    name = keras.backend.standardize_dtype(dtype)
    return 2 if name == "bfloat16" else 1 if name.startswith("float8") else np.dtype(name).itemsize


def _lines(rows: list[VariableRow], placement: Placement, gathered: int, scattered: int, model: Any) -> Iterator[str]:
    cells = [
        (
            row.path,
            "×".join(map(str, row.shape)) or "scalar",
            _format_layout(row.layout),
            format_bytes(row.device_nbytes),
            row.reason,
        )
        for row in rows
        if not row.is_like_weight
    ]
    titles = ("variable", "shape", "layout", "per device", "why")
    widths = [max(len(cell[column]) for cell in (titles, *cells)) for column in range(len(titles))]
    mesh = ", ".join(f"{axis} {size}" for axis, size in placement.mesh.shape.items())
    yield f"{model.name} on {placement.mesh.size} devices (mesh: {mesh})"
    for cell in (titles, *cells):
        yield "  ".join(text.ljust(width) for text, width in zip(cell, widths, strict=True)).rstrip()
    folded = [row.device_nbytes for row in rows if row.is_like_weight]
    if folded:
        stored_bytes = format_bytes(sum(folded))
        yield f"{len(folded)} variables of the optimizer, stored like their weights: {stored_bytes} per device"
    total, stored = sum(row.nbytes for row in rows), sum(row.device_nbytes for row in rows)
    yield f"State: {format_bytes(total)}, of which each device stores {format_bytes(stored)} ({stored / total:.1%})."
    if gathered or scattered:
        yield (
            f"A training step: each device receives {format_bytes(gathered)} of weights and sends "
            f"{format_bytes(scattered)} of gradients to the devices that store them."
        )


def _rematerialized(model: Any, placement: Placement) -> tuple[tuple[RematerializedRow, ...], list[str]]:
    """The layers whose activations are computed again, and what is printed about them."""
    layers = keras_hooks.rematerialized_layers(model)
    calls = kept_activations(model, [layer for layer, _ in layers])
    rows, lines = [], []
    for layer, policy in layers:
        own = None if calls is None else [call for call in calls if call.layer is layer]
        kept, kept_without = (None, None) if own is None else _sums(own)
        row = RematerializedRow(layer.path or layer.name, policy, kept, kept_without)
        rows.append(row)
        lines.append(f"{row.path}: activations are computed again ({policy}){_format_kept(kept, kept_without)}")
    if calls:
        kept, kept_without = _sums([call for call in calls if not call.is_inside])
        holder = "device" if placement.devices_per_replica == 1 else "replica"
        lines.append(
            f"Rematerialization: for each row of its batch, each {holder} keeps {format_bytes(kept)} of activations of "
            f"these layers for the backward pass instead of {format_bytes(kept_without)}."
        )
    return tuple(rows), lines


def _sums(calls: list[LayerCall]) -> tuple[int, int]:
    return sum(call.kept for call in calls), sum(call.kept_without for call in calls)


def _format_kept(kept: int | None, kept_without: int | None) -> str:
    if kept is None or kept_without is None:
        return "; how many bytes this saves is counted for models with a keras.Input of known shape."
    return f"; {format_bytes(kept)} per row are kept instead of {format_bytes(kept_without)}."


def _format_layout(layout: tuple[Any, ...]) -> str:
    if not any(layout):
        return "replicated"
    return "(" + ", ".join("-" if axis is None else str(axis) for axis in layout) + ")"
