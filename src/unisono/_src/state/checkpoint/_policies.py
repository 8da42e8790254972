"""When to save: policies as objects without state, which decide by the progress of the training."""

from __future__ import annotations

import abc
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final, Literal, final

from unisono._src.core import warn_user

# Metrics with one of these words in their names are better when larger. All others count as losses or errors. Any other
# letter after one makes another word of it (val_acceleration), and before the short ones (indices).
_LARGER_IS_BETTER: Final = re.compile(
    r"(accuracy|acc|(auc|precision|recall)s?|auc(pr|roc)|auroc|fbeta|fmeasure|iou|jaccard|"
    r"(?<![a-z])((macro|micro)?f1|r2|io_u|dice))(score|coef|macro|micro|top)?(?![a-z])"
)

NOT_LOGGED = """Best: the logs have no {monitor!r}, so nothing is saved for it. They have {names}."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of training, from which a policy decides.

    Attributes:
        step: the total number of finished steps.
        saved_step: the number of steps at the last checkpoint, or at the start.
        seconds: the time since the last checkpoint was started, or since the start.
        epochs: the number of finished epochs if one has just ended; None within an epoch.
        logs: the logs of the epoch that has just ended; empty within an epoch.
        earlier: the logs of all earlier epochs.
    """

    step: int
    saved_step: int
    seconds: float
    epochs: int | None = None
    logs: Mapping[str, float] = field(default_factory=dict)
    earlier: Sequence[Mapping[str, float]] = ()


class SavePolicy(abc.ABC):
    """Decides when to save. A policy has no state: it decides only from the `Progress` that it gets.

    >>> class WhenLossIsLow(SavePolicy):
    ...     def due(self, progress):
    ...         return progress.logs.get("loss", 1.0) < 0.1
    >>> WhenLossIsLow().due(Progress(step=40, saved_step=20, seconds=9.0, epochs=2, logs={"loss": 0.05}))
    True
    """

    @abc.abstractmethod
    def due(self, progress: Progress) -> bool:
        """Whether to save now."""

    def worth_keeping(self, progress: Progress) -> str | None:
        """A mark such as "best val_loss", or None. The newest checkpoint with a mark is never deleted."""
        del progress
        return None

    @property
    def every(self) -> int | None:
        """A call that runs several steps has to end at multiples of this number; None if it does not matter."""
        return None


@final
@dataclass(frozen=True)
class EverySteps(SavePolicy):
    """Saves at every multiple of ``steps``.

    >>> EverySteps(100).due(Progress(step=200, saved_step=150, seconds=1.0))
    True
    """

    steps: int

    def __post_init__(self) -> None:
        _check_count("EverySteps", "steps", self.steps)

    def due(self, progress: Progress) -> bool:
        return progress.step // self.steps > progress.saved_step // self.steps

    @property
    def every(self) -> int:
        return self.steps


@final
@dataclass(frozen=True)
class EverySeconds(SavePolicy):
    """Saves when ``seconds`` have passed since the last checkpoint was started, so that no more than that can be lost.

    >>> EverySeconds(30).due(Progress(step=7, saved_step=2, seconds=30.5))
    True
    """

    seconds: float

    def __post_init__(self) -> None:
        is_number = isinstance(self.seconds, int | float) and not isinstance(self.seconds, bool)
        if not is_number or not 0 < self.seconds < math.inf:
            raise ValueError(f"EverySeconds: expected a number of seconds above 0, got {self.seconds!r}.")

    def due(self, progress: Progress) -> bool:
        return progress.seconds >= self.seconds and progress.step > progress.saved_step


@final
@dataclass(frozen=True)
class EveryEpoch(SavePolicy):
    """Saves at the end of every epoch, or of every ``epochs``-th epoch.

    >>> EveryEpoch(2).due(Progress(step=40, saved_step=0, seconds=9.0, epochs=4))
    True
    """

    epochs: int = 1

    def __post_init__(self) -> None:
        _check_count("EveryEpoch", "epochs", self.epochs)

    def due(self, progress: Progress) -> bool:
        return progress.epochs is not None and progress.epochs % self.epochs == 0


@final
@dataclass(frozen=True)
class Best(SavePolicy):
    """Saves at the end of an epoch whose ``monitor`` is better than in all earlier epochs, and keeps the best one.

    Args:
        monitor: a name in the logs, such as "val_loss".
        mode: "min" or "max"; "auto" means "max" for accuracy, AUC, precision, recall and similar names.

    >>> policy = Best("val_accuracy")
    >>> progress = Progress(
    ...     step=40, saved_step=20, seconds=9.0, epochs=2, logs={"val_accuracy": 0.9}, earlier=[{"val_accuracy": 0.8}]
    ... )
    >>> policy.due(progress), policy.worth_keeping(progress)
    (True, 'best val_accuracy')
    """

    monitor: str
    mode: Literal["auto", "min", "max"] = "auto"

    def __post_init__(self) -> None:
        if not isinstance(self.monitor, str) or not self.monitor or "," in self.monitor:
            raise ValueError(f'Best: expected the name of a value in the logs, as "val_loss", got {self.monitor!r}.')
        if self.mode not in ("auto", "min", "max"):
            raise ValueError(f'Best: mode must be "auto", "min" or "max", got {self.mode!r}.')

    def due(self, progress: Progress) -> bool:
        if progress.epochs is None:
            return False
        if self.monitor not in progress.logs:
            if not any(self.monitor in logs for logs in progress.earlier):
                names = ", ".join(map(repr, progress.logs)) or "nothing"
                warn_user(NOT_LOGGED.format(monitor=self.monitor, names=names))
            return False
        before = [self._badness(logs[self.monitor]) for logs in progress.earlier if self.monitor in logs]
        return self._badness(progress.logs[self.monitor]) < min(before, default=math.inf)

    def worth_keeping(self, progress: Progress) -> str | None:
        return f"best {self.monitor}" if self.monitor in progress.logs and self.due(progress) else None

    def _badness(self, value: float) -> float:
        value = float(value)
        if math.isnan(value):
            return math.inf
        return -value if self._prefers_larger else value

    @property
    def _prefers_larger(self) -> bool:
        if self.mode != "auto":
            return self.mode == "max"
        name = self.monitor.lower()
        return not name.endswith(("loss", "error")) and _LARGER_IS_BETTER.search(name) is not None


@final
@dataclass(frozen=True, init=False)
class AnyOf(SavePolicy):
    """Saves when at least one of the policies would save.

    >>> AnyOf(EverySteps(200), EverySteps(300), EverySeconds(60)).every
    100
    """

    policies: tuple[SavePolicy, ...]

    def __init__(self, *policies: SavePolicy) -> None:
        if not policies or not all(isinstance(policy, SavePolicy) for policy in policies):
            raise TypeError(f"AnyOf: expected policies, as AnyOf(EveryEpoch(), EverySeconds(60)), got {policies!r}.")
        object.__setattr__(self, "policies", policies)

    def due(self, progress: Progress) -> bool:
        return any(policy.due(progress) for policy in self.policies)

    def worth_keeping(self, progress: Progress) -> str | None:
        marks = [mark for policy in self.policies if (mark := policy.worth_keeping(progress))]
        return ", ".join(dict.fromkeys(marks)) or None

    @property
    def every(self) -> int | None:
        steps = [policy.every for policy in self.policies if policy.every is not None]
        return reduce(math.gcd, steps) if steps else None


def _check_count(kind: str, name: str, value: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{kind}: {name} must be a whole number of at least 1, got {value!r}.")
