"""The variables that a step uses: their arrays are read before a call and written back after it."""

from __future__ import annotations

from typing import Any, NamedTuple

from unisono._src.keras_hooks import step_state_variables
from unisono._src.training._custom_steps import has_tf_style_step, used_variables


class StepVariables(NamedTuple):
    """The Keras variables that one kind of step reads and writes, grouped as Keras's steps expect them."""

    groups: tuple[list[Any], ...]

    def read(self) -> tuple[list[Any], ...]:
        """Their arrays. A call that donates them must be followed by :meth:`write`."""
        return tuple([variable._value for variable in group] for group in self.groups)

    def write(self, state: tuple[list[Any], ...]) -> None:
        """Assigns the arrays that a program returned, without a copy."""
        for group, values in zip(self.groups, state, strict=True):
            for variable, value in zip(group, values, strict=True):
                variable._value = value

    def all(self) -> list[Any]:
        """All of them, in one list."""
        return [variable for group in self.groups for variable in group]


def step_variables(model: Any, kind: str) -> StepVariables:
    """The variables of the state of `train_step`, `test_step` or `predict_step`.

    A custom step may use more than Keras's would: a second optimizer, variables that the model does not hold. Those are
    one more group.
    """
    groups = step_state_variables(model, f"{kind}_step")
    if has_tf_style_step(model, kind):
        known = {id(variable) for group in groups for variable in group}
        groups.append([each for each in used_variables(model, kind) if id(each) not in known])
    return StepVariables(tuple(groups))
