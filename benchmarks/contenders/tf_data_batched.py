"""`tf.data` as its performance guide recommends for cheap functions: batch first, then map whole batches."""

from __future__ import annotations

from typing import Any

import _data
import tensorflow as tf
from _files import RECORDS
from _passes import Batches, serve_passes
from _pipelines import Pipeline

from contenders.tf_data import AUTOTUNE, FEATURES, scaled


def contender(pipeline: Pipeline) -> Batches:
    function: Any = scaled if pipeline.reads == "mnist" else _parse
    dataset = _shuffled(pipeline).batch(pipeline.batch_size)
    dataset = dataset.map(function, num_parallel_calls=AUTOTUNE).prefetch(AUTOTUNE)
    return lambda: (image for image, _ in dataset.as_numpy_iterator())


def _shuffled(pipeline: Pipeline) -> Any:
    if pipeline.reads == "mnist":
        return tf.data.Dataset.from_tensor_slices(_data.images_and_labels()).shuffle(pipeline.num_elements)
    return tf.data.TFRecordDataset(str(RECORDS)).shuffle(1000)


def _parse(records: Any) -> tuple[Any, Any]:
    examples = tf.io.parse_example(records, FEATURES)
    return tf.reshape(tf.io.decode_raw(examples["image"], tf.uint8), (-1, 28, 28)), examples["label"]


if __name__ == "__main__":
    serve_passes(contender)
