"""Which dimension of a variable is sharded over which axis of a mesh, and why."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from jax.sharding import PartitionSpec

Axes = tuple[str | None, ...]
"""For each dimension the mesh axis over which it is sharded, or None."""

UNMATCHED = """layout_map: the pattern {pattern!r} matches no variable. {advice}
A pattern is a regular expression that is searched in a variable's path."""

SEVERAL_PATTERNS = """layout_map: {count} patterns match the variable {path!r}: {patterns}.
Make them more precise, so that one matches; `^` and `$` stand for the begin and the end of a path."""

OTHER_RANK = """layout_map: {pattern!r} gives {axes}, {found} dimensions, and matches {path!r}, whose shape {shape} has
{rank}. Write one name or None for each dimension."""

UNKNOWN_AXIS = (
    """layout_map: {pattern!r} names the axis {axis!r}, and the mesh has {axes}. Write one of these, or None."""
)

REPEATED_AXIS = """layout_map: {pattern!r} gives {axes}, in which an axis is repeated. One axis shards one dimension."""


@dataclass(frozen=True)
class VariableInfo:
    """What decides how a variable is stored.

    Attributes:
        shape: its shape.
        path: its path, as Keras names it; "" if it is not known.
        of_optimizer: whether it belongs to an optimizer.
        slot_of: the variable whose moment, say, an optimizer keeps in this one.
    """

    shape: tuple[int, ...]
    path: str = ""
    of_optimizer: bool = False
    slot_of: VariableInfo | None = None


@dataclass(frozen=True)
class LayoutDecision:
    """How a variable is stored, and why."""

    spec: PartitionSpec
    reason: str


class LayoutPolicy(Protocol):
    """Decides how variables are stored."""

    def decide(self, variable: VariableInfo) -> LayoutDecision:
        """The layout of one variable. The same for equal arguments."""

    def check_used(self) -> None:
        """Raises if the policy has parts that no variable used, once all of a model's variables exist."""


@dataclass(frozen=True)
class ShardLargestDim:
    """Every variable that is not small is sharded along its largest dimension that divides.

    Attributes:
        axes: the mesh axes over which it is sharded.
        num_shards: the number of devices along them.
        min_size: variables with fewer elements are replicated.
        weights: whether weights are sharded too, or only the variables of optimizers.
    """

    axes: tuple[str, ...]
    num_shards: int
    min_size: int
    weights: bool = True

    def decide(self, variable: VariableInfo) -> LayoutDecision:
        if not self.weights and not variable.of_optimizer:
            return LayoutDecision(PartitionSpec(), "only the optimizer's state is sharded")
        if self.num_shards == 1:
            return LayoutDecision(PartitionSpec(), "one device")
        if math.prod(variable.shape) < self.min_size:
            return LayoutDecision(PartitionSpec(), f"fewer than {self.min_size:,} elements")
        dims = sorted(range(len(variable.shape)), key=lambda dim: -variable.shape[dim])
        for rank, dim in enumerate(dims):
            if variable.shape[dim] % self.num_shards == 0:
                skipped = ", ".join(str(variable.shape[other]) for other in dims[:rank])
                reason = f"{skipped} is not divisible by {self.num_shards}" if skipped else "largest dimension"
                return LayoutDecision(_spec(len(variable.shape), dim, self.axes), reason)
        return LayoutDecision(PartitionSpec(), f"no dimension is divisible by {self.num_shards}")

    def check_used(self) -> None:
        pass


@dataclass(frozen=True)
class ShardByMap:
    """Variables are sharded as patterns of their paths say, or, without patterns, by their shapes.

    Attributes:
        mesh_axes: the axes of the mesh with their sizes.
        model_axis: the axis over which variables are sharded by their shapes.
        patterns: for each pattern the axes of the dimensions; None derives them from shapes.
    """

    mesh_axes: Mapping[str, int]
    model_axis: str
    patterns: Mapping[str, Axes] | None
    _used: set[str] = field(default_factory=set)
    _paths: dict[str, None] = field(default_factory=dict)
    _kernels: dict[str, tuple[tuple[int, ...], PartitionSpec]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for pattern, axes in (self.patterns or {}).items():
            named = [axis for axis in axes if axis is not None]
            for axis in named:
                if axis not in self.mesh_axes:
                    raise ValueError(UNKNOWN_AXIS.format(pattern=pattern, axis=axis, axes=", ".join(self.mesh_axes)))
            if len(set(named)) < len(named):
                raise ValueError(REPEATED_AXIS.format(pattern=pattern, axes=axes))

    def decide(self, variable: VariableInfo) -> LayoutDecision:
        if variable.of_optimizer:
            reference = variable.slot_of
            if reference is None or reference.shape != variable.shape:
                return LayoutDecision(PartitionSpec(), "a variable of the optimizer that matches no weight")
            return LayoutDecision(self.decide(reference).spec, f"like {reference.path}")
        if self.patterns is None:
            return self._from_shape(variable)
        self._paths[variable.path] = None
        found = [pattern for pattern in self.patterns if re.search(pattern, variable.path)]
        self._used.update(found)
        if not found:
            return LayoutDecision(PartitionSpec(), "no pattern matches")
        if len(found) > 1 and variable.path not in found:
            listed = ", ".join(map(repr, found))
            raise ValueError(SEVERAL_PATTERNS.format(count=len(found), path=variable.path, patterns=listed))
        pattern = variable.path if variable.path in found else found[0]
        axes = self.patterns[pattern]
        if len(axes) != len(variable.shape):
            raise ValueError(
                OTHER_RANK.format(
                    pattern=pattern,
                    axes=axes,
                    found=len(axes),
                    path=variable.path,
                    shape=variable.shape,
                    rank=len(variable.shape),
                )
            )
        return self._dividing(variable.shape, axes, f"layout_map {pattern!r}")

    def check_used(self) -> None:
        unused = [pattern for pattern in self.patterns or {} if pattern not in self._used]
        if not unused:
            return
        close = _closest(unused[0], list(self._paths))
        advice = "The closest paths are: " + ", ".join(map(repr, close)) + "." if close else "There are no variables."
        raise ValueError(UNMATCHED.format(pattern=unused[0], advice=advice))

    def _from_shape(self, variable: VariableInfo) -> LayoutDecision:
        """Of a matrix the longer side, so that a wide layer is sharded along its units and the next along its inputs;
        of attention's kernels the heads, of an embedding its rows, so that what goes from layer to layer is whole; of
        all else the last dimension. A bias is sharded as the units of its kernel, another vector is replicated."""
        shape, number = variable.shape, self.mesh_axes[self.model_axis]
        parent, _, name = variable.path.rpartition("/")
        if name == "bias":
            kernel_shape, kernel_spec = self._kernels.get(parent, ((), PartitionSpec()))
            if kernel_shape[-len(shape) :] == shape:
                return LayoutDecision(PartitionSpec(*tuple(kernel_spec)[-len(shape) :]), "units of its kernel")
        if len(shape) < 2:
            return LayoutDecision(PartitionSpec(), "a vector" if shape else "a number")
        order, reason = _preferred_dims(variable)
        for dim in order:
            if shape[dim] % number == 0:
                spec = _spec(len(shape), dim, (self.model_axis,))
                if name == "kernel":
                    self._kernels[parent] = shape, spec
                return LayoutDecision(spec, reason)
            reason = f"{shape[dim]} is not divisible by {number}"
        return LayoutDecision(PartitionSpec(), f"no dimension is divisible by {number}")

    def _dividing(self, shape: tuple[int, ...], axes: Axes, reason: str) -> LayoutDecision:
        """``axes``, where an axis whose dimension is not divisible shards another dimension, or none."""
        placed: list[str | None] = [
            axis if axis is not None and size % self.mesh_axes[axis] == 0 else None
            for axis, size in zip(axes, shape, strict=True)
        ]
        for axis, size in zip(axes, shape, strict=True):
            if axis is None or axis in placed:
                continue
            reason += f"; {size} is not divisible by {self.mesh_axes[axis]}"
            free = [
                dim
                for dim in sorted(range(len(shape)), key=lambda dim: -shape[dim])
                if placed[dim] is None and shape[dim] % self.mesh_axes[axis] == 0
            ]
            if free:
                placed[free[0]] = axis
        return LayoutDecision(PartitionSpec(*placed), reason)


def _preferred_dims(variable: VariableInfo) -> tuple[Sequence[int], str]:
    shape = variable.shape
    by_size = sorted(range(len(shape)), key=lambda dim: (-shape[dim], -dim))
    if variable.path.endswith("embeddings"):
        return range(len(shape)), "rows of an embedding"
    if len(shape) == 2:
        return by_size, "the longer side" if shape[0] != shape[1] else "units"
    if len(shape) == 3:
        if re.search(r"/(query|key|value)/kernel$", variable.path):
            return (1, 0, 2), "attention heads"
        if re.search(r"/attention_output/kernel$", variable.path):
            return (0, 2, 1), "attention heads"
    return range(len(shape) - 1, -1, -1), "the last dimension"


def _spec(rank: int, dim: int, axes: tuple[str, ...]) -> PartitionSpec:
    entries: list[str | tuple[str, ...] | None] = [None] * rank
    entries[dim] = axes[0] if len(axes) == 1 else axes
    return PartitionSpec(*entries)


def _closest(pattern: str, paths: list[str]) -> list[str]:
    words = re.sub(r"[^\w/]+", " ", pattern).strip()

    def similarity(path: str) -> float:
        return difflib.SequenceMatcher(None, words, path).ratio()

    return sorted(paths, key=similarity, reverse=True)[:5]
