"""Paths of the files that pipelines read. `data.py` creates them once."""

from __future__ import annotations

from pathlib import Path

CACHE = Path(__file__).parent / ".cache"
RECORDS = CACHE / "mnist.tfrecord"
JPEGS = CACHE / "jpeg-256"


def jpegs() -> list[str]:
    """The names of all JPEGs."""
    return [str(path) for path in sorted(JPEGS.glob("*.jpg"))]
