"""`tf.compat.v1.io`: `tf.io`, and the iterator over records of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unisono.tf.compat.v1._functions import decode_raw
from unisono.tf.compat.v1._tf2_names import names_from_tf2 as _names_from_tf2
from unisono.tf.data import TFRecordDataset

__all__ = ["decode_raw", "tf_record_iterator"]


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a TFRecord file, as bytes."""
    compression = getattr(options, "compression_type", options) or ""
    for record in TFRecordDataset(path, compression_type=compression):
        yield record.numpy()


__getattr__ = _names_from_tf2("tf.compat.v1.io", "unisono.tf.io")
