"""What devices exchange in a step, read from the text of its compiled program."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from unisono._src import keras_hooks
from unisono._src.devices import Placement, ShardedPlacement

Kind = Literal["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"]

_OPERATION: Final = re.compile(
    r"= (?P<types>.*?) (?P<kind>all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\("
)
_ARRAY: Final = re.compile(r"\b(?P<type>pred|[a-z]+\d+[a-z0-9]*)\[(?P<shape>[\d,]*)\]")
_BITS: Final = re.compile(r"\d+")
# Row numbers, masks and the loss: they are exchanged too, and take no time beside gradients of this size.
_SMALL: Final = 1024
_LARGE: Final = 65536


@dataclass(frozen=True)
class Collective:
    """One operation between devices.

    Attributes:
        kind: what it does.
        num_bytes: of the whole array: what an all-reduce sums, what an all-gather makes, what a reduce-scatter divides.
    """

    kind: Kind
    num_bytes: int

    def bytes_sent(self, num_devices: int) -> float:
        """What a device sends in a ring of so many devices."""
        share = (num_devices - 1) / num_devices
        return self.num_bytes * {"all-reduce": 2 * share, "collective-permute": 1.0}.get(self.kind, share)

    def num_messages(self, num_devices: int) -> int:
        """How many messages a device sends one after the other."""
        hops = num_devices - 1
        return {"all-reduce": 2 * hops, "collective-permute": 1}.get(self.kind, hops)


def read_collectives(text: str, num_devices: int) -> list[Collective]:
    """The operations in the text of a program, without very small ones beside large ones."""
    found = []
    for match in _OPERATION.finditer(text):
        kind: Any = match["kind"]
        types = match["types"]
        if match[0].endswith("-start(") and kind != "all-reduce":
            types = _find_results(types)
        size = sum(map(_num_bytes, _ARRAY.finditer(types)))
        if kind == "reduce-scatter":
            size *= num_devices  # its result is the part of one device
        found.append(Collective(kind, size))
    if any(each.num_bytes >= _LARGE for each in found):
        found = [each for each in found if each.num_bytes >= _SMALL]
    return found


def expect_collectives(variables: Iterable[Any], placement: Placement) -> list[Collective]:
    """The same for more devices than there are here: gradients are summed, and sharded weights gathered twice."""
    size = sum(math.prod(each.shape) * np.dtype(keras_hooks.raw_value(each).dtype).itemsize for each in variables)
    if isinstance(placement, ShardedPlacement):
        return [Collective("all-gather", size), Collective("all-gather", size), Collective("reduce-scatter", size)]
    return [Collective("all-reduce", size)]


def _find_results(types: str) -> str:
    """The results in the type of an asynchronous operation: operands, results, and in some programs more.

    >>> _find_results("((f32[8,4]{1,0:T(8,128)}), f32[2,4]{1,0}, u32[])")
    'f32[2,4]{1,0}'
    """
    parts, depth = [""], 0
    for letter in types.removeprefix("(").removesuffix(")"):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts[1].strip() if len(parts) > 1 else types


def _num_bytes(match: re.Match[str]) -> int:
    elements = math.prod(int(size) for size in match["shape"].split(",") if size)
    bits = _BITS.search(match["type"])
    return elements * (int(bits[0]) // 8 if bits and int(bits[0]) >= 8 else 1)
