"""The random generator of the process, which a strategy borrows while it trains.

It draws for all code that gave no seed, inside steps and outside. So it belongs to no strategy: it goes to the
devices for one `fit`, and is bound to none afterwards, so that what it draws can be combined with arrays of any device.
"""

from __future__ import annotations

from typing import Any

from unisono._src import jax_hooks
from unisono._src.devices import Placement
from unisono._src.processes import broadcast_from_chief


class BorrowedVariables:
    """Variables that are on a strategy's devices for one call of `fit`, `evaluate` or `predict`."""

    def __init__(self) -> None:
        self._variables: list[tuple[Any, Placement]] = []

    def borrow(self, variable: Any, placement: Placement) -> None:
        """Puts it on the devices of ``placement``, in all processes with the value of the chief."""
        value = variable._value
        is_there = value.committed and value.sharding.is_equivalent_to(placement.layout(value), value.ndim)
        if not is_there:  # else an outer fit, whose callback runs this one, has borrowed it and still needs it
            self._variables.append((variable, placement))
        # Always: a process that drew alone meanwhile, for a plot, say, would continue with different seeds.
        variable._value = placement.place_variable(broadcast_from_chief(value) if placement.spans_processes else value)

    def give_back(self) -> None:
        """Unbinds all of them from the devices. Does not wait for programs that are in flight."""
        for variable, placement in self._variables:
            if not variable._value.is_deleted():  # as it is if a program that took it has failed
                variable._value = jax_hooks.uncommit(placement.whole_on_one_device(variable._value))
        self._variables.clear()
