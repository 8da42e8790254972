"""`tf.data` with the same operations as `unisono_data.py`, with `AUTOTUNE` for parallel calls and prefetching."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import _data
import tensorflow as tf
from _files import RECORDS, jpegs
from _passes import Batches, serve_passes
from _pipelines import Pipeline

AUTOTUNE = tf.data.AUTOTUNE
FEATURES = {"image": tf.io.FixedLenFeature((), tf.string), "label": tf.io.FixedLenFeature((), tf.int64)}


def contender(pipeline: Pipeline) -> Batches:
    make = {"mnist": _mnist, "jpeg": _jpeg, "records": _records, "generator": _generator}[pipeline.reads]
    dataset = make(pipeline).batch(pipeline.batch_size).prefetch(AUTOTUNE)
    if pipeline.reads == "jpeg":
        return dataset.as_numpy_iterator  # type: ignore[no-any-return]  # TensorFlow has no types
    return lambda: (image for image, _ in dataset.as_numpy_iterator())


def scaled(image: Any, label: Any) -> tuple[Any, Any]:
    return tf.cast(image, tf.float32) / 255, label


def _mnist(pipeline: Pipeline) -> Any:
    dataset = tf.data.Dataset.from_tensor_slices(_data.images_and_labels()).shuffle(pipeline.num_elements)
    return dataset.map(scaled, num_parallel_calls=AUTOTUNE)


def _jpeg(pipeline: Pipeline) -> Any:
    def decode(path: Any) -> Any:
        return tf.io.decode_jpeg(tf.io.read_file(path), channels=3)

    return tf.data.Dataset.from_tensor_slices(jpegs()).map(decode, num_parallel_calls=AUTOTUNE)


def _records(pipeline: Pipeline) -> Any:
    def parse(record: Any) -> tuple[Any, Any]:
        example = tf.io.parse_single_example(record, FEATURES)
        return tf.reshape(tf.io.decode_raw(example["image"], tf.uint8), (28, 28)), example["label"]

    return tf.data.TFRecordDataset(str(RECORDS)).map(parse, num_parallel_calls=AUTOTUNE).shuffle(1000)


def _generator(pipeline: Pipeline) -> Any:
    images, labels = (array[: pipeline.num_elements] for array in _data.images_and_labels())

    def rows() -> Iterator[tuple[Any, Any]]:
        yield from zip(images, labels, strict=True)

    signature = (tf.TensorSpec((28, 28), tf.uint8), tf.TensorSpec((), tf.uint8))
    return tf.data.Dataset.from_generator(rows, output_signature=signature)


if __name__ == "__main__":
    serve_passes(contender)
