"""`unisono.data`: each map is written for one element, and Unisono decides how it runs.

No `prefetch`: it lets a thread work ahead while something else computes, and here nothing does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import _data
from _files import RECORDS, jpegs
from _passes import Batches, serve_passes
from _pipelines import Pipeline

from unisono import io
from unisono.data import AUTOTUNE, Dataset, TensorSpec, TFRecordDataset

FEATURES = {"image": io.FixedLenFeature((), "string"), "label": io.FixedLenFeature((), "int64")}


def contender(pipeline: Pipeline) -> Batches:
    make = {"mnist": _mnist, "jpeg": _jpeg, "records": _records, "generator": _generator}[pipeline.reads]
    dataset = make(pipeline).batch(pipeline.batch_size)
    return lambda: dataset if pipeline.reads == "jpeg" else (image for image, _ in dataset)


def _mnist(pipeline: Pipeline) -> Dataset:
    dataset = Dataset.from_tensor_slices(_data.images_and_labels()).shuffle(pipeline.num_elements)
    return dataset.map(lambda image, label: (image.astype("float32") / 255, label))


def _jpeg(pipeline: Pipeline) -> Dataset:
    def decode(path: Any) -> Any:
        return io.decode_jpeg(io.read_file(path), channels=3)

    return Dataset.from_tensor_slices(jpegs()).map(decode, num_parallel_calls=AUTOTUNE)


def _records(pipeline: Pipeline) -> Dataset:
    def parse(record: Any) -> tuple[Any, Any]:
        example = io.parse_single_example(record, FEATURES)
        return io.decode_raw(example["image"], "uint8").reshape(28, 28), example["label"]

    return TFRecordDataset(RECORDS).map(parse).shuffle(1000)


def _generator(pipeline: Pipeline) -> Dataset:
    images, labels = (array[: pipeline.num_elements] for array in _data.images_and_labels())

    def rows() -> Iterator[tuple[Any, Any]]:
        yield from zip(images, labels, strict=True)

    return Dataset.from_generator(rows, output_signature=(TensorSpec((28, 28), "uint8"), TensorSpec((), "uint8")))


if __name__ == "__main__":
    serve_passes(contender)
