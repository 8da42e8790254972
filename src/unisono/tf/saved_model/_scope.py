"""The scope in which a function is traced to be saved: every variable becomes an input of the program."""

from __future__ import annotations

from typing import Any

import jax

from unisono._src import jax_hooks, keras_hooks
from unisono._src.tracing import functions

RUNS_REPLICAS = """A function that calls `strategy.run` cannot be saved: it is a program for the devices of this
strategy. Save the function that `run` calls, and pass the loaded function to `run`."""

READS_DATASET = """A function that reads elements of a dataset cannot be saved. Pass the data as an argument."""


class SavingScope(functions.CaptureScope):
    """Makes every variable that is read an input of the program, with one value for all replicas."""

    def stored_value(self, variable: Any) -> Any:
        key = id(variable)
        if key not in self._state:
            self._variables[key] = variable
            # The stored dtype; inside a layer with mixed precision `variable.dtype` is the compute dtype.
            like = jax.ShapeDtypeStruct(tuple(variable.shape), keras_hooks.get_stored_value(variable).dtype)
            self._state[key] = jax_hooks.make_placeholder(self._trace, key, like)
        return self._state[key]

    def read(self, variable: Any) -> Any:
        self.used[id(variable)] = variable
        return self.stored_value(variable)

    def add_update(self, update: tuple[Any, Any]) -> None:
        variable, value = update
        self.stored_value(variable)
        self.set_stored_value(variable, value)

    def leave_program(self, reason: str) -> None:
        pass  # what runs on the host cannot be saved: the error that follows says why

    def data_pulled(self) -> None:
        raise ValueError(READS_DATASET)
