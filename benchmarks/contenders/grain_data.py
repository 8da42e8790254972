"""Grain's `MapDataset`, in one process: with two cores `mp_prefetch` is slower.

Rows that lie in memory are read without threads, as `ReadOptions` recommends, and scaled after batching, which is
quicker. JPEGs are decoded on two threads per core, each of which makes whole batches.
"""

from __future__ import annotations

import os
from typing import Any

import _data
import grain
import numpy as np
from _files import jpegs
from _passes import Batches, serve_passes
from _pipelines import Pipeline
from PIL import Image


def contender(pipeline: Pipeline) -> Batches:
    if pipeline.reads == "mnist":
        rows = grain.MapDataset.source(_Rows()).shuffle(seed=1).batch(pipeline.batch_size).map(_scaled)
        dataset = rows.to_iter_dataset(grain.ReadOptions(num_threads=0, prefetch_buffer_size=0))
        return lambda: (image for image, _ in dataset)
    images = grain.MapDataset.source(jpegs()).map(_decoded).batch(pipeline.batch_size)
    threads = 2 * (os.cpu_count() or 1)
    return lambda: images.to_iter_dataset(grain.ReadOptions(num_threads=threads, prefetch_buffer_size=2 * threads))


class _Rows:
    def __init__(self) -> None:
        self._images, self._labels = _data.images_and_labels()

    def __len__(self) -> int:
        return len(self._images)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self._images[index], self._labels[index]


def _scaled(batch: tuple[Any, Any]) -> tuple[Any, Any]:
    image, label = batch
    return image.astype("float32") / 255, label


def _decoded(path: str) -> np.ndarray[Any, Any]:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


if __name__ == "__main__":
    serve_passes(contender)
