"""What operations may ask to find out what their elements look like."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from unisono._src.data.plans._nest import Nest

if TYPE_CHECKING:
    from unisono._src.data.plans._plan import Plan


class SpecUnknownError(Exception):
    """The spec can only be known by running a user's function, and that is not allowed now."""


class Inspection(ABC):
    """Serves `element_spec` of one member of a plan. Its methods may raise a SpecUnknownError, to be passed on."""

    @abstractmethod
    def trace(self, function: Callable[..., Any], seed: int) -> Nest:
        """The spec of what `function` returns for the elements that come in.

        Found by tracing. If the function cannot be traced the operation is run, as by `observe`.
        """

    @abstractmethod
    def observe(self) -> Nest:
        """The spec of the member's first element, which is computed for this. Dims that vary before it stay open."""

    @abstractmethod
    def first_input(self) -> Nest:
        """The first element that comes into the operation, computed."""

    @abstractmethod
    def spec_of(self, plan: Plan) -> Nest:
        """What the elements of another plan look like."""
