"""The file of a `CSVLogger` when training resumes: rows that were written after the checkpoint are cut."""

from __future__ import annotations

import os

from unisono._src.state.store import staged_file


def file_size(path: str) -> int | None:
    """Its size in bytes; None if there is no such file."""
    return os.path.getsize(path) if os.path.exists(path) else None


def cut_file(path: str, size: int) -> None:
    """Cuts what was written after it had this size."""
    if (file_size(path) or 0) > size:
        os.truncate(path, size)


def cut_epochs(path: str, separator: str, epoch: int) -> None:
    """Leaves the header and the rows of epochs before ``epoch``. An incomplete row is cut too."""
    if not os.path.exists(path):
        return
    with open(path, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    header, rows = [line for line in lines[:1] if line.endswith(b"\n")], lines[1:]
    kept = header + [row for row in rows if _epoch_of(row, separator) < epoch]
    if len(kept) < len(lines):
        with staged_file(path) as temporary:
            temporary.write_bytes(b"".join(kept))


def _epoch_of(row: bytes, separator: str) -> float:
    first = row.split(separator.encode())[0]
    return int(first) if row.endswith(b"\n") and first.isdigit() else float("inf")
