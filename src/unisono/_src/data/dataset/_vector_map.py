"""Maps of elements that were moved behind a batch: one compiled call instead of one call per element."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

from unisono._src.data.dataset._host_function import HostFunction
from unisono._src.data.dataset._trace import vectorise
from unisono._src.data.plans import Deferred, Elements, IndexedMap, Map, Nest, Operation, PassId, Upstream, map_deferred


@dataclass(frozen=True, eq=False)
class VectorMap(Operation):
    """Maps of elements, applied to a batch of them."""

    keeps_random_access = True

    maps: tuple[Map, ...]

    @cached_property
    def _function(self) -> HostFunction:
        maps = [IndexedMap(one.function, one.seed, one.num_parallel_calls) for one in self.maps]
        return HostFunction(vectorise(maps, ()))

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return map_deferred(upstream.open(pass_id), partial(partial, self._map))

    def _map(self, element: Deferred) -> Nest:
        return self._function(element())

    def __str__(self) -> str:
        return " -> ".join(map(str, self.maps))
