"""Sources that read files from beginning to end: lines of text, records."""

from __future__ import annotations

import glob
import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unisono._src.data.files import FixedLengthFile, RecordFile, TextFile, bytes_scalar
from unisono._src.data.plans._identity import ComputedElement, pass_number, set_identity
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._operation import UNKNOWN_CARDINALITY, Deferred, Elements, PassId, State
from unisono._src.data.plans._source import Source
from unisono._src.data.plans._spec import TensorSpec


@dataclass(frozen=True)
class FileSource(Source):
    """Byte strings from files, one file after the other. A state is a file and an offset in it."""

    random_access = False
    gives_single_rows = True

    paths: tuple[str, ...]
    compression: str | None = None

    def __post_init__(self) -> None:
        for path in self.paths:
            if not Path(path).is_file():
                raise FileNotFoundError(
                    f"{self.call}: there is no file {path!r} (looked from {Path.cwd()}). "
                    f"Check the path, or find files by pattern with Dataset.list_files('data/*.tfrecord')."
                )

    @property
    @abstractmethod
    def call(self) -> str:
        """The class that the user wrote."""

    @abstractmethod
    def read(self, path: str, offset: int) -> Iterator[tuple[bytes, int]]:
        """Byte strings from `offset` on, each with the offset after it."""

    @property
    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY if self.paths else 0

    def elements(self, pass_id: PassId) -> Elements:
        return _FileElements(self, pass_number(pass_id))

    def element_spec(self, inspection: Inspection) -> TensorSpec:
        return TensorSpec((), object)

    def __str__(self) -> str:
        return f"{self.call}({repr(self.paths[0]) if len(self.paths) == 1 else f'{len(self.paths)} files'})"


class TextLines(FileSource):
    """Lines of text files, without their ends."""

    @property
    def call(self) -> str:
        return "TextLineDataset"

    def read(self, path: str, offset: int) -> Iterator[tuple[bytes, int]]:
        return TextFile(path, self.compression).read(offset)


class TFRecords(FileSource):
    """The records of TFRecord files."""

    @property
    def call(self) -> str:
        return "TFRecordDataset"

    def read(self, path: str, offset: int) -> Iterator[tuple[bytes, int]]:
        return RecordFile(path, self.compression).read(offset)


@dataclass(frozen=True)
class FixedLengthRecords(FileSource):
    """Pieces of files, all of one length."""

    record_bytes: int = 1
    header_bytes: int = 0
    footer_bytes: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._file(path="")  # opens nothing; impossible sizes raise here, where the user writes them

    @property
    def call(self) -> str:
        return "FixedLengthRecordDataset"

    def read(self, path: str, offset: int) -> Iterator[tuple[bytes, int]]:
        return self._file(path).read(offset)

    def _file(self, path: str) -> FixedLengthFile:
        return FixedLengthFile(path, self.record_bytes, self.header_bytes, self.footer_bytes, self.compression)


def file_names(names: Any) -> list[str]:
    """A name, several, arrays and datasets of them, as a list of strings.

    >>> file_names(["a", b"b", np.array(["c"])])
    ['a', 'b', 'c']
    """
    if isinstance(names, str | os.PathLike):
        return [str(os.fspath(names))]
    if isinstance(names, bytes):
        return [names.decode()]
    if isinstance(names, np.ndarray):
        return [name for item in names.flat for name in file_names(item)]
    if not isinstance(names, Iterable):
        raise TypeError(f"Expected the name of a file, or several, got {names!r} ({type(names).__name__}).")
    return [name for item in names for name in file_names(item)]


def find_files(patterns: Any) -> list[str]:
    """The names of all files that match one of the patterns, sorted."""
    wanted = file_names(patterns)
    found = sorted({name for pattern in wanted for name in glob.glob(pattern, recursive=True)})
    if not found:
        raise FileNotFoundError(
            f"list_files: no file matches {', '.join(map(repr, wanted))}. Check the pattern and the working folder."
        )
    return found


class _FileElements(Elements):
    def __init__(self, source: FileSource, epoch: int) -> None:
        self._source, self._epoch = source, epoch
        self._file = self._offset = self._number = 0
        self._strings: Iterator[tuple[bytes, int]] | None = None

    def __next__(self) -> Deferred:
        while self._file < len(self._source.paths):
            if self._strings is None:
                self._strings = self._source.read(self._source.paths[self._file], self._offset)
            found = next(self._strings, None)
            if found is not None:
                value, self._offset = found
                set_identity(self._epoch, self._number)
                self._number += 1
                return ComputedElement(bytes_scalar(value))
            self._strings, self._file, self._offset = None, self._file + 1, 0
        raise StopIteration

    def get_state(self) -> State:
        return {"file": self._file, "offset": self._offset, "number": self._number}

    def set_state(self, state: State) -> None:
        self.close()
        self._file, self._offset, self._number = state["file"], state["offset"], state["number"]

    def close(self) -> None:
        strings, self._strings = self._strings, None
        close = getattr(strings, "close", None)
        if close is not None:
            close()
