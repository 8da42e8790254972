"""`DatasetInfo`: name, features and splits of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from unisono.tfds._features import FeaturesDict
from unisono.tfds._splits import parse_split


@dataclass(frozen=True)
class SplitInfo:
    """A split, or a slice of it."""

    name: str
    num_examples: int
    num_shards: int = 1


class SplitDict(dict[str, SplitInfo]):
    """The splits by name; `splits["train[:10%]"]` is a slice."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        super().__init__({name: SplitInfo(name, size) for name, size in sizes.items()})
        self._sizes = dict(sizes)

    def __missing__(self, split: str) -> SplitInfo:
        return SplitInfo(split, sum(rows.stop - rows.start for _, rows in parse_split(split, self._sizes)))

    @property
    def total_num_examples(self) -> int:
        """The rows of all splits."""
        return sum(self._sizes.values())


@dataclass(frozen=True, kw_only=True)
class DatasetInfo:
    """Name, features and splits of a dataset, by its name in TensorFlow Datasets."""

    name: str
    version: str
    description: str
    homepage: str
    citation: str
    features: FeaturesDict
    supervised_keys: tuple[str, str] = ("image", "label")
    splits: SplitDict = field(default_factory=lambda: SplitDict({}))

    @property
    def full_name(self) -> str:
        """Name and version."""
        return f"{self.name}/{self.version}"
