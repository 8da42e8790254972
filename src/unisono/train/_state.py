"""The state of a model as arrays: read from its variables before a call, written back after it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Variables(NamedTuple):
    """The Keras variables that one kind of step reads and writes, grouped as Keras's steps expect them."""

    groups: tuple[list[Any], ...]

    def read(self) -> tuple[list[Any], ...]:
        """Their arrays. A call that donates them must be followed by :meth:`write`."""
        return tuple([variable._value for variable in group] for group in self.groups)

    def write(self, state: tuple[list[Any], ...]) -> None:
        """Puts arrays that a program of ours returned back, without a copy."""
        for group, values in zip(self.groups, state, strict=True):
            for variable, value in zip(group, values, strict=True):
                variable._value = value

    def all(self) -> list[Any]:
        """All of them, in one list."""
        return [variable for group in self.groups for variable in group]


def variables_of(model: Any, kind: str) -> Variables:
    """What `train_step`, `test_step` or `predict_step` takes as its state."""
    groups = [list(model.trainable_variables), list(model.non_trainable_variables)]
    if kind == "train":
        groups.append(list(model.optimizer.variables))
    if kind != "predict":
        groups.append(list(model.metrics_variables))
    return Variables(tuple(groups))
