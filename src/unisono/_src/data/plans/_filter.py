"""filter: the elements for which a function says yes."""

from __future__ import annotations

from dataclasses import dataclass

from unisono._src.data.plans._identity import ComputedElement
from unisono._src.data.plans._operation import Deferred, Elements, Path, Upstream
from unisono._src.data.plans._predicate import PredicateOperation
from unisono._src.data.plans._stateless import StatelessElements


@dataclass(frozen=True)
class Filter(PredicateOperation):
    """The elements of which `predicate` is true."""

    @property
    def call(self) -> str:
        return "filter"

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return StatelessElements(upstream.open(path), self._next_accepted)

    def _next_accepted(self, elements: Elements) -> Deferred:
        for element in elements:
            value = ComputedElement.of(element)
            if self.accepts(value):
                return value
        raise StopIteration
