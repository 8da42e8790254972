"""`unisono.data` with a map that parses a batch of Examples in one call."""

from __future__ import annotations

from typing import Any

from _files import RECORDS
from _passes import Batches, serve_passes
from _pipelines import Pipeline

from contenders.unisono_data import FEATURES
from unisono import io
from unisono.data import TFRecordDataset


def contender(pipeline: Pipeline) -> Batches:
    def parse(records: Any) -> tuple[Any, Any]:
        examples = io.parse_example(records, FEATURES)
        return io.decode_raw(examples["image"], "uint8").reshape(-1, 28, 28), examples["label"]

    dataset = TFRecordDataset(RECORDS).shuffle(1000).batch(pipeline.batch_size).map(parse)
    return lambda: (image for image, _ in dataset)


if __name__ == "__main__":
    serve_passes(contender)
