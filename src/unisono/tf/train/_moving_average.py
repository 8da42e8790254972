"""`tf.train.ExponentialMovingAverage`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import keras

NOT_A_VARIABLE = """ExponentialMovingAverage.apply: expected variables, got {given!r}. Averages of other tensors are
not supported: assign them to a tf.Variable first."""

NO_DEBIAS = """ExponentialMovingAverage(zero_debias=True) is for averages of tensors, which start at 0; averages
of variables start at the variable's value. Leave it out."""


class ExponentialMovingAverage:
    """Keeps averages of variables; each `apply` moves them towards the variables by 1 - decay.

    >>> variable = keras.Variable(1.0)
    >>> averages = ExponentialMovingAverage(decay=0.5)
    >>> averages.apply([variable])
    >>> _ = variable.assign(3.0)
    >>> averages.apply([variable])
    >>> float(averages.average(variable).value)
    2.0

    Args:
        decay: the fraction of an average that one `apply` keeps.
        num_updates: the number of steps n; limits the decay to (1 + n) / (10 + n) at the start.
        zero_debias: must be False.
        name: the suffix of the averages' names.
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        if zero_debias:
            raise NotImplementedError(NO_DEBIAS)
        self._decay, self._num_updates, self._name = decay, num_updates, name
        self._averages: dict[int, tuple[Any, Any]] = {}

    @property
    def name(self) -> str:
        """The suffix of the averages' names."""
        return self._name

    @property
    def variables(self) -> list[Any]:
        """The averages."""
        return [average for _, average in self._averages.values()]

    def apply(self, var_list: Sequence[Any] | None = None) -> None:
        """Updates the averages. A new average starts with the value of its variable."""
        decay = self._current_decay()
        for variable in var_list or ():
            if not isinstance(variable, keras.Variable):
                raise TypeError(NOT_A_VARIABLE.format(given=variable))
            known = self._averages.get(id(variable))
            if known is None:
                self._averages[id(variable)] = (variable, self._create_average(variable))
            else:
                average = known[1]
                average.assign(average.value - (1 - decay) * (average.value - variable.value))

    def average(self, var: Any) -> Any:
        """The variable with the average of ``var``; None if there is none."""
        return self._averages.get(id(var), (None, None))[1]

    def average_name(self, var: Any) -> str:
        """The name of the average."""
        return f"{var.name}/{self._name}"

    def variables_to_restore(self, moving_avg_variables: Sequence[Any] | None = None) -> dict[str, Any]:
        """The variables by the names of their averages."""
        variables = [variable for variable, _ in self._averages.values()]
        return {self.average_name(each): each for each in [*variables, *(moving_avg_variables or ())]}

    def _create_average(self, variable: Any) -> Any:
        # An initializer function, since in a traced function the value is a tracer.
        return keras.Variable(
            lambda shape, dtype: jnp.array(variable.value, dtype),
            shape=variable.shape,
            dtype=variable.dtype,
            trainable=False,
            name=f"{variable.name}_{self._name}",
        )

    def _current_decay(self) -> Any:
        if self._num_updates is None:
            return self._decay
        count = jnp.asarray(getattr(self._num_updates, "value", self._num_updates), "float32")
        return jnp.minimum(self._decay, (1.0 + count) / (10.0 + count))
