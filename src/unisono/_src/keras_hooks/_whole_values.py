"""Hook: NumPy gets the whole value of a sharded variable, one variable at a time.

Checked against Keras 3.15.1: `numpy`, `get_weights` and `convert_to_numpy` read a variable by `__array__`, and what
writes the files of a model reads `value` or `__array__`.

A variable that is sharded over processes is gathered by all of them. Files are written by the chief alone, which
decides which variables it reads, how often and in which order. So it announces every read, and the others take part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from keras.src.backend.jax.core import JaxVariable

from unisono._src import hooks
from unisono._src.devices import copy_to_host, is_sharded, is_sharded_over_processes
from unisono._src.keras_hooks._attributes import get_owner
from unisono._src.keras_hooks._variables import StateScope
from unisono._src.processes import broadcast_from_chief, processes, run_on_chief
from unisono._src.replicas import context

_DONE: Final = -1


def install_whole_value_reads() -> None:
    """Installs the hook."""
    why = "NumPy gets the whole value of a sharded variable, of which no second copy stays in memory"
    hooks.patch(JaxVariable, "__array__", _to_numpy, expects="source 6b92092bcd9d", why=why, inherited=True)


def has_variables_sharded_over_processes(model: Any) -> bool:
    """Whether no process alone has all weights of the model, or all of its optimizer's state."""
    return bool(_sharded_variables(model))


def run_on_chief_with_whole_values(model: Any, work: Callable[[], Any]) -> Any:
    """Calls ``work``, which reads the model's variables, on the chief alone. None on the other processes.

    If variables are sharded over processes, all processes have to call this, and what ``work`` raises is raised on all.
    Inside it every read of such a variable gives its whole value, which nothing keeps. Otherwise nothing is
    exchanged, and the chief may be alone.
    """
    owner, sharded = get_owner(model), _sharded_variables(model)
    if owner is None or not owner.placement.spans_processes:
        return work()
    if not sharded:
        with context.outside_of_strategies():
            return work() if processes().is_chief else None
    result, failure = None, None
    if processes().is_chief:
        try:
            # Keras makes objects to compare with. In the scope of the strategy their variables would be sent to all.
            with context.outside_of_strategies(), _AnnouncedReads(sharded):
                result = work()
        except Exception as error:  # raised below, when the others have been informed
            failure = error
        broadcast_from_chief(np.int64(_DONE))
    else:
        while (number := int(broadcast_from_chief(np.int64(_DONE)))) != _DONE:
            _gather(sharded[number])
    run_on_chief(lambda: _raise(failure))
    return result


class _AnnouncedReads(StateScope):
    """On the chief: a read of a variable that is sharded over processes is announced, and gives its whole value."""

    def __init__(self, sharded: Sequence[Any]) -> None:
        super().__init__()
        self._numbers = {id(variable): number for number, variable in enumerate(sharded)}

    def read(self, variable: Any) -> Any:
        number = self._numbers.get(id(variable))
        if number is None:
            return variable._value
        broadcast_from_chief(np.int64(number))
        return _gather(variable).addressable_data(0)

    def variable_created(self, variable: Any) -> None:
        """It belongs to nothing that is saved."""

    def data_pulled(self) -> None:
        """Nothing is traced here."""


def _sharded_variables(model: Any) -> list[Any]:
    """In an order that is the same on all processes."""
    optimizer = getattr(model, "optimizer", None)
    variables = [*model.variables, *(optimizer.variables if optimizer is not None else [])]
    once = {id(each): each for each in variables}
    return [each for each in once.values() if is_sharded_over_processes(getattr(each, "_value", None))]


def _gather(variable: Any) -> Any:
    owner = get_owner(variable)
    assert owner is not None, "only a strategy shards variables"
    return owner.placement.gather(variable._value)


def _raise(failure: Exception | None) -> None:
    if failure is not None:
        raise failure


def _to_numpy(self: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    value = self.value
    if not is_sharded(value):
        # NumPy wants an array of no dimensions where JAX gives a number.
        return np.asarray(value.__array__(dtype))
    if is_sharded_over_processes(value):
        value = get_owner(self).placement.gather(value).addressable_data(0)  # type: ignore[union-attr]
    whole = copy_to_host(value)
    return whole if dtype is None else whole.astype(dtype, copy=False)
