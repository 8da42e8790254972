"""Which old checkpoints of a series are kept, and the record that this needs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from unisono._src.state.store import JSON, CheckpointSeries


@dataclass
class RetentionRecord:
    """What decides which checkpoints are kept. It is stored in each checkpoint, so that the next process has it.

    Attributes:
        marks: by the number of a checkpoint, why it is worth keeping.
        written: by the number of a checkpoint, when it was written.
        preserved: those that are kept permanently, since enough hours have passed.
        preserved_at: when the last of these was written, or when the series began.
        logs: those of all epochs so far.
    """

    marks: dict[int, str] = field(default_factory=dict)
    written: dict[int, float] = field(default_factory=dict)
    preserved: set[int] = field(default_factory=set)
    preserved_at: float = field(default_factory=time.time)
    logs: list[dict[str, float]] = field(default_factory=list)

    def to_json(self) -> JSON:
        """As it is stored."""
        return {
            "marks": {str(number): mark for number, mark in self.marks.items()},
            "written": {str(number): seconds for number, seconds in self.written.items()},
            "preserved": sorted(self.preserved),
            "preserved_at": self.preserved_at,
            "logs": list(self.logs),  # which grows while a thread writes this
        }

    @classmethod
    def from_json(cls, state: JSON) -> RetentionRecord:
        """What :meth:`to_json` returned; a new record for None."""
        if state is None:
            return cls()
        return cls(
            marks={int(number): mark for number, mark in state["marks"].items()},
            written={int(number): seconds for number, seconds in state["written"].items()},
            preserved=set(state["preserved"]),
            preserved_at=state["preserved_at"],
            logs=list(state["logs"]),
        )

    def note(self, number: int, mark: str | None) -> None:
        """A checkpoint is about to be written, for the first time or again."""
        self.written[number] = time.time()
        self.preserved.discard(number)
        self.marks.pop(number, None)
        if mark is not None:
            self.marks[number] = mark

    def forget_all_but(self, numbers: Iterable[int]) -> None:
        """Those that are not among ``numbers`` were deleted, or could not be written."""
        existing = set(numbers)
        self.marks = {number: mark for number, mark in self.marks.items() if number in existing}
        self.written = {number: seconds for number, seconds in self.written.items() if number in existing}
        self.preserved &= existing


def delete_old_checkpoints(
    series: CheckpointSeries, record: RetentionRecord, keep: int | None, hours: float | None, in_use: Iterable[int]
) -> None:
    """Deletes all but the newest ``keep``, those ``in_use``, the newest of each mark, and one for every ``hours``."""
    if keep is None:
        series.prune(None)
        return
    record.forget_all_but(series.steps())
    spared = {*in_use, *newest_of_each_mark(record.marks), *record.preserved}
    if hours is not None:
        for number in series.steps()[:-keep]:
            written = record.written.get(number)
            if number not in spared and written is not None and written - hours * 3600 >= record.preserved_at:
                record.preserved.add(number)
                record.preserved_at = written
    series.prune(keep, spared | record.preserved)


def newest_of_each_mark(marks: Mapping[int, str | None]) -> set[int]:
    """The checkpoints that must not be deleted: of those with each mark, the newest. ``marks`` are by number.

    >>> sorted(newest_of_each_mark({1: "best loss", 2: None, 3: "best loss, best auc", 4: "best auc"}))
    [3, 4]
    """
    newest: dict[str, int] = {}
    for number in sorted(marks):
        newest.update(dict.fromkeys((marks[number] or "").split(", "), number))
    return {number for mark, number in newest.items() if mark}
