"""Reads event files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tensorboardX.proto import event_pb2

from unisono.io import RecordFile


def events(folder: Path) -> Iterator[Any]:
    """All events of one run, in the order in which TensorBoard reads them."""
    for path in sorted(folder.glob("*tfevents*")):
        for record, _ in RecordFile(path).read():
            yield event_pb2.Event.FromString(record)


def steps_of(folder: Path) -> dict[str, list[int]]:
    """At which steps each tag was written."""
    steps: dict[str, list[int]] = {}
    for event in events(folder):
        for value in event.summary.value:
            steps.setdefault(value.tag, []).append(event.step)
    return steps
