"""load: the elements of a file that `save` wrote."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from unisono._src.data.plans._element_file import ElementFile
from unisono._src.data.plans._identity import pass_number, set_identity
from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._operation import Deferred, Elements, PassId, State
from unisono._src.data.plans._source import Source


@dataclass(frozen=True, eq=False)
class LoadedSource(Source):
    """The elements of a file, by number."""

    random_access = True

    path: Path

    @cached_property
    def _num_elements(self) -> int:
        file = ElementFile(self.path)
        file.close()
        return len(file)

    @property
    def cardinality(self) -> int:
        return self._num_elements

    def elements(self, pass_id: PassId) -> Elements:
        return _LoadedElements(ElementFile(self.path), pass_number(pass_id))

    def __str__(self) -> str:
        return f"load({str(self.path.parent)!r})"


class _LoadedElements(Elements):
    def __init__(self, file: ElementFile, epoch: int) -> None:
        self._file: ElementFile | None = file
        self._epoch = epoch
        self._position = 0

    def __next__(self) -> Deferred:
        if self._file is None or self._position == len(self._file):
            raise StopIteration
        self._position += 1
        return partial(_element, self._file, self._epoch, self._position - 1)

    def get_state(self) -> State:
        return self._position

    def set_state(self, state: State) -> None:
        self._position = state

    def close(self) -> None:
        self._file = None  # closed with the last element that has still to be read from it


def _element(file: ElementFile, epoch: int, row: int) -> Nest:
    set_identity(epoch, row)
    return file.read(row)
