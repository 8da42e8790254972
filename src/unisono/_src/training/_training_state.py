"""All that decides how a `fit` goes on, as arrays and JSON, and back."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from unisono._src import keras_hooks
from unisono._src.data.plans import State
from unisono._src.devices import Placement
from unisono._src.processes import all_gather_json, processes
from unisono._src.state.checkpoint import describe_mismatch, named_variables
from unisono._src.state.store import LoadedCheckpoint
from unisono._src.training._epoch_cursor import EpochCursor
from unisono._src.training._evaluate import Evaluation
from unisono._src.training._step_variables import StepVariables, step_variables

OTHER_VARIABLES = """{folder} was saved of a model that has other variables.
{problems}
Build and compile the same model to go on with that run, or begin a new run in another folder."""

OTHER_WORKERS = """{folder} was saved by {before} workers, each of which reads data of its own, and {now} go on.
Where each of them stood in its data means nothing to another number. Go on with {before}, or give all of them the same
data (AutoShardPolicy.DATA, which is the default): that goes on with any number."""

NO_CALLBACK = """{folder} holds the state of {name}, and there is no such callback now. It is left out."""


@dataclass(eq=False)
class TrainingState:
    """One `fit`: what it is made of, and how far it is.

    Attributes:
        epoch: the epoch that runs, or the next one.
        within: whether it has begun.
        step: steps of all epochs.
        logs: of the last step of the epoch that runs.
        watch: over its loss.
        earlier: logs of all epochs that have ended.
    """

    model: Any
    placement: Placement
    variables: StepVariables
    cursor: EpochCursor
    validation: Evaluation | None
    callbacks: Any
    epoch: int = 0
    within: bool = False
    step: int = 0
    logs: Any = None
    watch: Any = None
    earlier: list[dict[str, float]] = field(default_factory=list)
    _seeds: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)

    def doubts(self) -> list[str]:
        """Why the data may not go on exactly from its places."""
        feeds = [self.cursor.feed, *([self.validation.feed] if self.validation else [])]
        return [feed.resume_caveat for feed in feeds if feed.resume_caveat is not None]

    def settle(self) -> None:
        """Waits until callbacks have seen all steps so far."""
        keras_hooks.wait_for_batch_hooks(self.callbacks)

    def before_validation(self) -> None:
        """Remembers the seeds, which a validation may use up: if it does not come to its end it is run again."""
        self._seeds = self.placement.fetch(
            {
                name: variable._value
                for name, variable in self._named().items()
                if np.issubdtype(variable._value.dtype, np.integer) and not variable.trainable
            }
        )

    def end_epoch(self, logs: Mapping[str, Any]) -> None:
        """The epoch that runs has ended with these logs."""
        self.earlier.append({name: float(value) for name, value in logs.items() if np.ndim(value) == 0})
        self.epoch, self.within, self.logs, self.watch = self.epoch + 1, False, None, None
        self._seeds = {}

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Copies of all variables, on the host."""
        fetched: dict[str, np.ndarray[Any, Any]] = self.placement.fetch(
            {name: variable._value for name, variable in self._named().items()}
        )
        return fetched | self._seeds

    def state(self, *, finished: int | None) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
        """The rest as JSON, and arrays that callbacks keep. All processes have to call it.

        ``finished``: the number of epochs that were asked for, if the training has come to its end.
        """
        states = {name: keras_hooks.get_callback_state(callback) for name, callback in self._callbacks().items()}
        kept = {name: state for name, state in states.items() if state is not None}
        arrays = {f"callbacks/{name}/{key}": array for name, state in kept.items() for key, array in state[1].items()}
        return {
            "epoch": self.epoch,
            "within": self.within,
            "step": self.step,
            "logs": keras_hooks.pythonify(jax.device_get(self.logs or {})),
            "watch": None if self.watch is None else int(jax.device_get(self.watch)),
            "earlier": list(self.earlier),
            "stopped": bool(self.model.stop_training),
            "finished": finished,
            "input": _everyones(self.cursor),
            "validation": None if self.validation is None else _everyones(self.validation),
            # A copy: a user's object may go on changing while it is written.
            "callbacks": copy.deepcopy({name: state[0] for name, state in kept.items()}),
        }, arrays

    def restore(self, saved: LoadedCheckpoint) -> None:
        """Becomes what was saved. The data was opened at its place before."""
        self._restore_variables(saved)
        state = saved.state
        self.epoch, self.within, self.step = state["epoch"], state["within"], state["step"]
        self.logs, self.earlier = state["logs"], list(state["earlier"])
        # One that had come to its end goes on if more epochs are asked for.
        self.model.stop_training = state["stopped"] and state["finished"] is None
        self.watch = None if state["watch"] is None else self.placement.place_replicated(np.int32(state["watch"]))
        callbacks = self._callbacks()
        for name, kept in state["callbacks"].items():
            prefix = f"callbacks/{name}/"
            arrays = {key.removeprefix(prefix): saved.arrays[key] for key in saved.arrays if key.startswith(prefix)}
            if name in callbacks:
                keras_hooks.restore_callback_state(callbacks[name], kept, arrays)
            elif processes().is_chief:  # the others have fewer, and none of them writes
                warnings.warn(NO_CALLBACK.format(folder=saved.folder, name=name), stacklevel=2)

    def _restore_variables(self, saved: LoadedCheckpoint) -> None:
        named = self._named()
        values = {name: array for name, array in saved.arrays.items() if not name.startswith("callbacks/")}
        problems = _problems(named, values)
        if problems:
            raise ValueError(OTHER_VARIABLES.format(folder=saved.folder, problems="\n".join(problems)))
        for name, variable in named.items():
            variable._value = self.placement.place_variable(values[name])

    def _named(self) -> dict[str, Any]:
        named = named_variables({"model": self.model, "optimizer": self.model.optimizer})
        # What a user's steps use besides: variables that the model does not hold, in the order of their use.
        used = {"step": self.variables.all()}
        if self.validation is not None:
            used["validation"] = step_variables(self.model, "test").all()
        for step, variables in used.items():
            known = {id(variable) for variable in named.values()}
            others = [variable for variable in variables if id(variable) not in known]
            named |= {f"{step}/{number}": variable for number, variable in enumerate(others)}
        return named

    def _callbacks(self) -> dict[str, Any]:
        """By class and number: workers that are not the chief lack some, so that places in the list do not tell."""
        numbered: dict[str, Any] = {}
        for callback in self.callbacks.callbacks:
            kind = type(callback).__name__
            number = sum(name.rpartition("-")[0] == kind for name in numbered)
            numbered[f"{kind}-{number}"] = callback
        return numbered


def saved_position(saved: LoadedCheckpoint | None, what: str) -> State:
    """Where this process's data stood: that of "input" or of "validation"."""
    if saved is None:
        return None
    place = saved.state[what]
    if not isinstance(place, list):
        return place
    if len(place) != processes().count:
        raise ValueError(OTHER_WORKERS.format(folder=saved.folder, before=len(place), now=processes().count))
    return place[processes().index]


def _everyones(data: EpochCursor | Evaluation) -> State:
    """The place that all processes know, or the places of all."""
    place = data.place()
    return all_gather_json(place) if data.feed.differs_by_process else place


def _problems(named: Mapping[str, Any], values: Mapping[str, np.ndarray[Any, Any]]) -> list[str]:
    problems = [f"  {name} was not saved" for name in named if name not in values]
    problems += [f"  {name} was saved, and is not there now" for name in values if name not in named]
    misfits = [describe_mismatch(name, variable, values[name]) for name, variable in named.items() if name in values]
    return problems + [f"  {wrong}" for wrong in misfits if wrong is not None]
