"""Creates the files that pipelines read, if they are missing. A file or folder with its final name is complete."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import _data
import numpy as np
from _files import CACHE, JPEGS, RECORDS
from PIL import Image

from unisono import io

# Noise of 4 x 4 to 128 x 128 cells, scaled up and added: more contrast in larger structures, as in photographs.
_NOISE = ((4, 60.0), (16, 30.0), (64, 12.0), (128, 6.0))


def make_records(num_records: int) -> None:
    """MNIST as Examples: the image's bytes and the label."""
    if RECORDS.exists():
        return
    images, labels = _data.images_and_labels()
    CACHE.mkdir(exist_ok=True)
    unfinished = RECORDS.with_suffix(".unfinished")
    with io.TFRecordWriter(unfinished) as writer:
        for image, label in zip(images[:num_records], labels[:num_records], strict=True):
            writer.write(io.encode_example({"image": image.tobytes(), "label": int(label)}))
    unfinished.rename(RECORDS)


def make_jpegs(num_images: int, size: int) -> None:
    """Noise images that compress like photographs: about 18 kB each at 256 x 256."""
    if JPEGS.exists():
        return
    unfinished = JPEGS.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    random = np.random.default_rng(0)
    for number in range(num_images):
        _save(_noise(random, size), unfinished / f"{number:05}.jpg")
    unfinished.rename(JPEGS)


def _noise(random: np.random.Generator, size: int) -> np.ndarray[Any, Any]:
    image = np.full((size, size, 3), 128, np.float32)
    for cells, contrast in _NOISE:
        for channel in range(3):
            small = Image.fromarray(contrast * random.standard_normal((cells, cells), np.float32))
            image[:, :, channel] += np.asarray(small.resize((size, size), Image.Resampling.BICUBIC))
    return image.clip(0, 255).astype(np.uint8)


def _save(image: np.ndarray[Any, Any], path: Path) -> None:
    Image.fromarray(image).save(path, quality=90)
