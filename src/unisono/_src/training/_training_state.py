"""Everything that decides how a `fit` continues, as arrays and JSON, and back."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import jax
import numpy as np

from unisono._src import keras_hooks
from unisono._src.core import warn_user
from unisono._src.data.plans import State
from unisono._src.devices import Placement
from unisono._src.processes import all_gather_json, processes
from unisono._src.state.checkpoint import copy_values, describe_mismatch, named_variables, place_like, run_on_all
from unisono._src.state.store import LoadedCheckpoint
from unisono._src.training._epoch_cursor import EpochCursor
from unisono._src.training._evaluate import Evaluation
from unisono._src.training._step_variables import StepVariables, step_variables

OTHER_VARIABLES = """{folder} was saved with a model whose variables differ from this one's.
{problems}
Build and compile the same model to resume that run, or begin a new run in another folder."""

OTHER_WORKERS = """{folder} was saved by {before} workers, each of which reads data of its own, and there are {now} now.
The positions of {before} workers in their data cannot be used by {now}. Resume with {before}, or give all of them the
same data (AutoShardPolicy.DATA, which is the default): that resumes with any number."""

# What the names of arrays that are not variables begin with.
_CALLBACKS: Final = "callbacks/"
_LOGS: Final = "logs/"

NO_CALLBACK = """{folder} holds the state of {name}, and there is no such callback now. It is left out."""

NOT_A_RUN = """{folder} is not a checkpoint of a fit: its {name!r} is {found!r:.80}.
Give `resume` the folder of another run, or begin a new run in another folder."""


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


_FIELDS: Final[dict[str, Callable[[Any], bool]]] = {
    "epoch": _is_count,
    "step": _is_count,
    "mid_epoch": lambda value: type(value) is bool,
    "stopped": lambda value: type(value) is bool,
    "finished": lambda value: value is None or _is_count(value),
    "nan_guard": lambda value: value is None or type(value) is int,
    "logs": lambda value: isinstance(value, dict),
    "logs_of_epochs": lambda value: isinstance(value, list) and all(isinstance(logs, dict) for logs in value),
    "callbacks": lambda value: isinstance(value, dict),
    "retention": lambda value: isinstance(value, dict),
}


@dataclass(eq=False)
class TrainingState:
    """One `fit`: what it is made of, and how far it is.

    Attributes:
        epoch: the epoch that runs, or the next one.
        mid_epoch: whether it has begun.
        step: steps of all epochs.
        logs: of the last step of the epoch that runs.
        nan_guard: of the epoch that runs, see `_steps.py`.
        logs_of_epochs: logs of all epochs that have ended.
    """

    model: Any
    placement: Placement
    variables: StepVariables
    cursor: EpochCursor
    validation: Evaluation | None
    callbacks: Any
    epoch: int = 0
    mid_epoch: bool = False
    step: int = 0
    logs: Any = None
    nan_guard: Any = None
    logs_of_epochs: list[dict[str, float]] = field(default_factory=list)
    _seeds: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)

    def resume_caveats(self) -> list[str]:
        """Why a resumed run may get different batches."""
        feeds = [self.cursor.feed, *([self.validation.feed] if self.validation else [])]
        return [feed.resume_caveat for feed in feeds if feed.resume_caveat is not None]

    def wait_for_callbacks(self) -> None:
        """Waits until callbacks have seen all steps so far."""
        keras_hooks.wait_for_batch_hooks(self.callbacks)

    def remember_seeds(self) -> None:
        """Copies the seeds, which a validation may advance: one that is interrupted is run again from its start."""
        self._seeds = self.placement.fetch(
            {
                name: variable._value
                for name, variable in self._named_variables().items()
                if np.issubdtype(variable._value.dtype, np.integer) and not variable.trainable
            }
        )

    def last_logs(self) -> Any:
        """The logs of the last step. Like Keras, an epoch without any step has those of the epoch before it."""
        if self.logs is not None or not self.logs_of_epochs:
            return self.logs
        return {name: value for name, value in self.logs_of_epochs[-1].items() if not name.startswith("val_")}

    def end_epoch(self, logs: Mapping[str, Any]) -> None:
        """The epoch that runs has ended with these logs."""
        self.logs_of_epochs.append({name: float(value) for name, value in logs.items() if np.ndim(value) == 0})
        self.epoch, self.mid_epoch, self.logs, self.nan_guard = self.epoch + 1, False, None, None
        self._seeds = {}

    def arrays(self) -> dict[str, Any]:
        """Copies on the host of the variables, or of the pieces of them, that this process has to write. All processes
        have to call it."""
        values = {name: variable._value for name, variable in self._named_variables().items()}
        return copy_values(values) | self._seeds

    def state(self, *, finished: int | None) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
        """The rest as JSON, and the arrays of callbacks and logs. All processes have to call it.

        ``finished``: the number of epochs that were asked for, if the training has finished.
        """
        found = {name: keras_hooks.get_callback_state(callback) for name, callback in self._named_callbacks().items()}
        states = {name: state for name, state in found.items() if state is not None}
        arrays = {
            f"{_CALLBACKS}{name}/{key}": array for name, state in states.items() for key, array in state[1].items()
        }
        logs = keras_hooks.pythonify(jax.device_get(self.logs or {}))
        arrays |= {f"{_LOGS}{name}": np.asarray(value) for name, value in logs.items() if not isinstance(value, float)}
        return {
            "epoch": self.epoch,
            "mid_epoch": self.mid_epoch,
            "step": self.step,
            "logs": {name: value for name, value in logs.items() if isinstance(value, float)},
            "nan_guard": None if self.nan_guard is None else int(jax.device_get(self.nan_guard)),
            "logs_of_epochs": list(self.logs_of_epochs),
            "stopped": bool(self.model.stop_training),
            "finished": finished,
            "input": _gather_position(self.cursor),
            "validation": None if self.validation is None else _gather_position(self.validation),
            # A copy: an object in it may change while it is written.
            "callbacks": copy.deepcopy({name: state[0] for name, state in states.items()}),
        }, arrays

    def restore(self, saved: LoadedCheckpoint) -> None:
        """Restores variables, counts and callbacks. The data was opened at its position before."""
        states = run_on_all(lambda: self._check_callback_states(saved))
        run_on_all(lambda: self._restore_variables(saved))
        state = saved.state
        self.epoch, self.mid_epoch, self.step = state["epoch"], state["mid_epoch"], state["step"]
        self.logs = state["logs"] | _arrays_below(_LOGS, saved)
        self.logs_of_epochs = list(state["logs_of_epochs"])
        # A run that had finished continues if more epochs are asked for.
        self.model.stop_training = state["stopped"] and state["finished"] is None
        self.nan_guard = (
            None if state["nan_guard"] is None else self.placement.place_replicated(np.int32(state["nan_guard"]))
        )
        run_on_all(lambda: _restore_callback_states(states))

    def _check_callback_states(self, saved: LoadedCheckpoint) -> list[tuple[Any, Any, dict[str, Any]]]:
        """Each callback with its state and arrays in ``saved``. Raises for a state that it cannot have written."""
        callbacks = self._named_callbacks()
        found = []
        for name, state in saved.state["callbacks"].items():
            arrays = _arrays_below(f"{_CALLBACKS}{name}/", saved)
            if name in callbacks:
                keras_hooks.check_callback_state(callbacks[name], state, arrays)
                found.append((callbacks[name], state, arrays))
            elif processes().is_chief:  # other workers have fewer callbacks, and none of those writes
                warn_user(NO_CALLBACK.format(folder=saved.folder, name=name))
        return found

    def _restore_variables(self, saved: LoadedCheckpoint) -> None:
        named = self._named_variables()
        values = {name: array for name, array in saved.arrays.items() if not name.startswith((_CALLBACKS, _LOGS))}
        problems = _find_problems(named, values)
        if problems:
            raise ValueError(OTHER_VARIABLES.format(folder=saved.folder, problems="\n".join(problems)))
        for name, variable in named.items():
            if isinstance(variable._value, jax.Array) and not keras_hooks.is_on_read(variable):
                variable._value = place_like(variable._value, values[name])
            else:
                variable._value = self.placement.place_variable(np.asarray(values[name]))

    def _named_variables(self) -> dict[str, Any]:
        named = named_variables({"model": self.model, "optimizer": self.model.optimizer})
        # What custom steps use besides: variables that the model does not hold, in the order of their use.
        used = {"step": self.variables.all()}
        if self.validation is not None:
            used["validation"] = step_variables(self.model, "test").all()
        for step, variables in used.items():
            known = {id(variable) for variable in named.values()}
            rest = [variable for variable in variables if id(variable) not in known]
            named |= {f"{step}/{number}": variable for number, variable in enumerate(rest)}
        return named

    def _named_callbacks(self) -> dict[str, Any]:
        """By class and number: workers other than the chief lack some, so indices in the list would not agree."""
        numbered: dict[str, Any] = {}
        for callback in self.callbacks.callbacks:
            kind = type(callback).__name__
            number = sum(name.rpartition("-")[0] == kind for name in numbered)
            numbered[f"{kind}-{number}"] = callback
        return numbered


def _arrays_below(prefix: str, saved: LoadedCheckpoint) -> dict[str, np.ndarray[Any, Any]]:
    found = {name.removeprefix(prefix): array for name, array in saved.arrays.items() if name.startswith(prefix)}
    return {name: np.asarray(array) for name, array in found.items()}


def _restore_callback_states(states: list[tuple[Any, Any, dict[str, Any]]]) -> None:
    for callback, state, arrays in states:
        keras_hooks.restore_callback_state(callback, state, arrays)


def check_saved_fields(saved: LoadedCheckpoint) -> None:
    """Raises a ValueError if the checkpoint's epoch, step and so on are not what :meth:`TrainingState.state` gave."""
    for name, is_kind in _FIELDS.items():
        found = saved.state.get(name) if isinstance(saved.state, dict) else None
        if not is_kind(found):
            raise ValueError(NOT_A_RUN.format(folder=saved.folder, name=name, found=found))


def saved_position(saved: LoadedCheckpoint | None, what: str) -> State:
    """The position of this process in its data: ``what`` is "input" or "validation"."""
    if saved is None:
        return None
    position = saved.state[what]
    if not isinstance(position, list):
        return position
    if len(position) != processes().count:
        raise ValueError(OTHER_WORKERS.format(folder=saved.folder, before=len(position), now=processes().count))
    return position[processes().index]


def _gather_position(data: EpochCursor | Evaluation) -> State:
    """The position that all processes share, or a list of each one's."""
    position = data.position()
    return all_gather_json(position) if data.feed.differs_by_process else position


def _find_problems(named: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    problems = [f"  {name} was not saved" for name in named if name not in values]
    problems += [f"  {name} was saved, and is not there now" for name in values if name not in named]
    mismatches = [describe_mismatch(name, variable, values[name]) for name, variable in named.items() if name in values]
    return problems + [f"  {mismatch}" for mismatch in mismatches if mismatch is not None]
