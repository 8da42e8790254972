"""cache(filename) and snapshot: elements computed once and kept in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unisono._src.data.plans._cache import FIRST_PASS
from unisono._src.data.plans._element_file import ElementFile, ElementFileError, ElementWriter
from unisono._src.data.plans._identity import ComputedElement, pass_number, set_identity
from unisono._src.data.plans._nest import Nest, structure
from unisono._src.data.plans._operation import (
    INFINITE_CARDINALITY,
    Deferred,
    Elements,
    Operation,
    PassId,
    State,
    Upstream,
)
from unisono._src.data.plans._passes import next_or_raise


@dataclass(frozen=True)
class FileCache(Operation):
    """The first complete pass writes the file, in this process or an earlier one; all later passes read it."""

    keeps_random_access = False
    only_reorders = True

    path: Path
    call: str
    """What the user wrote, such as `cache('train.cache')`."""
    description: str
    """The plan before it, as text: a file of another plan is refused."""

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        if upstream.cardinality == INFINITE_CARDINALITY:
            raise ValueError(f"{self}: what comes before it never ends, nor would the file. Put repeat() after it.")
        return _FileCachedElements(upstream, self, pass_number(pass_id))

    def open_file(self) -> ElementFile:
        """The file, which must exist and be of this plan."""
        file = ElementFile(self.path)
        if file.description != self.description:
            file.close()
            raise ElementFileError(
                f"{self}: {self.path} was written by another plan.\n  the file: {file.description}\n"
                f"  this plan: {self.description}\nDelete the file, or choose another name."
            )
        return file

    def __str__(self) -> str:
        return self.call


class _FileCachedElements(Elements):
    """Elements from the file if it exists when the first one is read, else from the first pass, which then writes
    it. The state is a position, so that a pass that began before the file existed can be resumed after."""

    def __init__(self, upstream: Upstream, operation: FileCache, epoch: int) -> None:
        self._upstream, self._operation, self._epoch = upstream, operation, epoch
        self._position = 0
        self._file: ElementFile | None = None
        self._like: Nest = None
        self._first_pass: Elements | None = None
        self._writer: ElementWriter | None = None

    def __next__(self) -> Deferred:
        if self._file is None and self._first_pass is None:
            self._open(None)
        value = self._read() if self._file is not None else self._compute()
        set_identity(self._epoch, self._position)
        self._position += 1
        return ComputedElement(value)

    def _open(self, state: State) -> None:
        if self._operation.path.exists():
            self._file = self._operation.open_file()
            if self._file.needs_classes():
                self._like = self._structure()
            return
        self._first_pass = self._upstream.open(FIRST_PASS)
        if self._position == 0:
            self._writer = ElementWriter(self._operation.path, self._operation.description)
        elif state is not None:
            self._first_pass.set_state(state)
        else:  # the state comes from a pass that read the file, and the file is gone
            for _ in range(self._position):
                next_or_raise(self._first_pass)

    def _read(self) -> Nest:
        assert self._file is not None
        if self._position == len(self._file):
            raise StopIteration
        return self._file.read(self._position, self._like)

    def _compute(self) -> Nest:
        assert self._first_pass is not None
        element = next(self._first_pass, None)
        if element is None:
            if self._writer is not None:
                self._writer.commit()
                self._writer = None
            raise StopIteration
        value = element()
        if self._writer is not None:
            self._writer.write(value)
        return value

    def _structure(self) -> Nest:
        """The classes of namedtuples, which the file does not hold, of the first element."""
        elements = self._upstream.open(FIRST_PASS)
        like = structure(next(elements)())
        elements.close()
        return like

    def get_state(self) -> State:
        return {"position": self._position, "input": self._first_pass and self._first_pass.get_state()}

    def set_state(self, state: State) -> None:
        self.close()
        self._position = state["position"]
        if self._position:
            self._open(state["input"])

    def close(self) -> None:
        file, self._file = self._file, None
        first_pass, self._first_pass = self._first_pass, None
        writer, self._writer = self._writer, None
        for opened in (file, first_pass):
            if opened is not None:
                opened.close()
        if writer is not None:
            writer.discard()
