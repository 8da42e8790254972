"""The variables of a function while it is traced to be saved."""

from __future__ import annotations

from typing import Any

import jax

from unisono._src import jax_hooks, keras_hooks
from unisono._src.tracing import functions

RUNS_REPLICAS = """A function that calls `strategy.run` cannot be saved: it is a program for the devices of this
strategy. Save the function that `run` calls, and call `run` with what was loaded."""

TAKES_DATA = """A function that takes elements of a dataset cannot be saved. Pass what it needs as an argument."""


class SavingScope(functions.CaptureScope):
    """Every variable that is met becomes an input of the program, as one value for all replicas."""

    def raw(self, variable: Any) -> Any:
        key = id(variable)
        if key not in self._state:
            # Not the variable's dtype, which is that of computations inside of a layer with mixed precision.
            like = jax.ShapeDtypeStruct(tuple(variable.shape), keras_hooks.get_stored_value(variable).dtype)
            self._state[key] = jax_hooks.make_placeholder(self._trace, key, like)
        return self._state[key]

    def read(self, variable: Any) -> Any:
        self.used[id(variable)] = variable
        return self.raw(variable)

    def add_update(self, update: tuple[Any, Any]) -> None:
        variable, value = update
        self.raw(variable)
        self.set_raw(variable, value)

    def pulled(self) -> None:
        raise ValueError(TAKES_DATA)
