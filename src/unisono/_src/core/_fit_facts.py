"""A collector of facts about a `fit`: what ran, where the time went, what was sent to the devices.

It is for reports, and for the files that a `fit` writes into the folder of its run. While no collector is active,
nothing is timed or counted: `measure` returns one shared context manager that does nothing, and `active_fit_facts`
returns None.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from time import perf_counter
from typing import Any, Final, Literal

Timed = Literal[
    "open_input_seconds",
    "input_wait_seconds",
    "copy_seconds",
    "compile_seconds",
    "compute_seconds",
    "callback_seconds",
    "validation_seconds",
    "checkpoint_wait_seconds",
    "checkpoint_snapshot_seconds",
    "checkpoint_write_seconds",
]


@dataclass
class FitFacts:
    """What one process saw of the `fit` calls inside `collect_fit_facts`.

    Attributes:
        steps: training steps that were started.
        calls: compiled calls that ran them.
        steps_by_form: the steps by the form of their program: "loop", "plain" or "eager".
        programs: programs that were compiled, those of validation included.
        compile_seconds: tracing and compiling them.
        data_is_resident: whether the training data is held on the devices; None before it is opened.
        open_input_seconds: opening training and validation data; resident data is sent then.
        input_wait_seconds: the loop waiting for its next batches, those of validation included.
        hidden_input_seconds: the part of ``input_wait_seconds`` in which the devices still computed steps before.
        copy_seconds: the part of ``input_wait_seconds`` in which batches were sent to the devices.
        compute_seconds: the loop starting compiled calls and waiting for their results, those of validation included.
            The devices compute during the other times too, as long as calls are in flight.
        bytes_sent: data sent to the devices, counted once however many devices get a copy. Resident data is sent once,
            and four bytes for each row number in every pass.
        resident_bytes: the part of ``bytes_sent`` that stays there until the end of the `fit`.
        callback_seconds: the loop in callbacks. Hooks that Keras runs in threads count until they are handed over.
        validation_seconds: validation inside the `fit`, with its input and callbacks.
        checkpoints: checkpoints that were written.
        checkpoint_wait_seconds: the loop waiting for the write of the checkpoint before.
        checkpoint_snapshot_seconds: the loop copying the state to the host.
        checkpoint_write_seconds: writing to the disk, in a thread beside the loop.
    """

    steps: int = 0
    calls: int = 0
    steps_by_form: dict[str, int] = field(default_factory=dict)
    programs: int = 0
    compile_seconds: float = 0.0
    data_is_resident: bool | None = None
    open_input_seconds: float = 0.0
    input_wait_seconds: float = 0.0
    hidden_input_seconds: float = 0.0
    copy_seconds: float = 0.0
    compute_seconds: float = 0.0
    bytes_sent: int = 0
    resident_bytes: int = 0
    callback_seconds: float = 0.0
    validation_seconds: float = 0.0
    checkpoints: int = 0
    checkpoint_wait_seconds: float = 0.0
    checkpoint_snapshot_seconds: float = 0.0
    checkpoint_write_seconds: float = 0.0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()  # checkpoints are written, and passes opened, in threads

    def add(self, **amounts: float) -> None:
        """Adds to the counts and times of these names."""
        with self._lock:
            for name, amount in amounts.items():
                setattr(self, name, getattr(self, name) + amount)

    def add_call(self, form: str, steps: int) -> None:
        """One compiled call of ``steps`` training steps was started."""
        self.add(calls=1, steps=steps)
        self.steps_by_form[form] = self.steps_by_form.get(form, 0) + steps

    def times(self) -> dict[str, float]:
        """All times so far, in seconds."""
        return {name: getattr(self, name) for name in _TIMES}

    def to_json(self) -> dict[str, Any]:
        """All of it as a dict that JSON can hold."""
        return asdict(self)


_TIMES: Final = tuple(each.name for each in fields(FitFacts) if each.name.endswith("_seconds"))

_active: FitFacts | None = None  # one for the process: threads report to it too


@contextlib.contextmanager
def collect_fit_facts() -> Iterator[FitFacts]:
    """Collects facts about the `fit` calls inside the block; of nested blocks the inner one collects.

    >>> with collect_fit_facts() as facts:
    ...     pass  # model.fit(...)
    >>> facts.steps, facts.to_json()["compile_seconds"]
    (0, 0.0)
    """
    global _active
    outer, _active = _active, FitFacts()
    try:
        yield _active
    finally:
        _active = outer


def active_fit_facts() -> FitFacts | None:
    """The collector that is active; None if there is none, and then nothing must be counted."""
    return _active


def measure(name: Timed) -> contextlib.AbstractContextManager[None]:
    """Adds the seconds that the block takes to ``name``, if a collector is active; else does nothing."""
    return _NOT_MEASURED if _active is None else _Timer(_active, name)


class _Timer(contextlib.AbstractContextManager[None]):
    """One of four in every call of the loop: without `FitFacts.add`, 1 µs instead of 2."""

    __slots__ = ("_facts", "_name", "_start")

    def __init__(self, facts: FitFacts, name: Timed) -> None:
        self._facts, self._name = facts, name

    def __enter__(self) -> None:
        self._start = perf_counter()

    def __exit__(self, *_: object) -> None:
        seconds = perf_counter() - self._start
        facts, name = self._facts, self._name
        with facts._lock:
            setattr(facts, name, getattr(facts, name) + seconds)


_NOT_MEASURED: Final = contextlib.nullcontext()
