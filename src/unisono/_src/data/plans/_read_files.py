"""What a dataset of the names of files becomes in `TFRecordDataset(names)`: what the files contain."""

from __future__ import annotations

from dataclasses import dataclass

from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._interleave import Interleave
from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._spec import TensorSpec


@dataclass(frozen=True)
class ReadFiles(Interleave):
    """Byte strings from one file after the other. `function` makes a dataset of a name."""

    flat: bool = True
    call: str = ""
    """The class that the user wrote."""

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        return TensorSpec((), object)

    def __str__(self) -> str:
        return f"{self.call}()"
