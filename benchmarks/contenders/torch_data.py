"""PyTorch's `DataLoader`.

- mnist: no workers (with two it is several times slower), a batch of rows in one call through `__getitems__`.
- jpeg: one worker process per core, which stay alive between passes.
- generator: an `IterableDataset`, no workers: there is one generator.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import _data
import numpy as np
import torch
from _files import jpegs
from _passes import Batches, serve_passes
from _pipelines import Pipeline
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset


def contender(pipeline: Pipeline) -> Batches:
    torch.set_num_threads(1)  # as workers do; threads within operations this small are slower
    size = pipeline.batch_size
    if pipeline.reads == "jpeg":
        images: Any = DataLoader(_Images(), size, num_workers=os.cpu_count() or 1, persistent_workers=True)
        return lambda: (batch.numpy() for batch in images)
    if pipeline.reads == "mnist":
        loader: Any = DataLoader(_Rows(), size, shuffle=True, collate_fn=lambda batch: batch)
    else:
        loader = DataLoader(_Generated(pipeline.num_elements), size)
    return lambda: (image.numpy() for image, _ in loader)


class _Rows(Dataset[Any]):
    """Rows fetched per batch, so that nothing has to be collated."""

    def __init__(self) -> None:
        self._images, self._labels = map(torch.from_numpy, _data.images_and_labels())

    def __len__(self) -> int:
        return len(self._images)

    def __getitems__(self, indices: list[int]) -> tuple[Any, Any]:
        return self._images[indices].float() / 255, self._labels[indices]


class _Images(Dataset[Any]):
    def __init__(self) -> None:
        self._paths = jpegs()

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> Any:
        with Image.open(self._paths[index]) as image:
            return torch.from_numpy(np.array(image.convert("RGB")))


class _Generated(IterableDataset[Any]):
    def __init__(self, num_elements: int) -> None:
        self._images, self._labels = (array[:num_elements] for array in _data.images_and_labels())

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        yield from zip(self._images, self._labels, strict=True)


if __name__ == "__main__":
    serve_passes(contender)
