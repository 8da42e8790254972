"""A round of an input pipeline: one pass, from `iter()` to the end, accessing every batch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from _pipelines import Pipeline
from _protocol import Round, serve_rounds

# Starts a pass; yields the first part of each batch (the images) as a NumPy array, without a copy where possible.
Batches = Callable[[], Iterable[np.ndarray[Any, Any]]]


def serve_passes(contender: Callable[[Pipeline], Batches]) -> None:
    """Runs a contender that reads a pipeline, which is the only argument of the process."""

    def build() -> Round:
        pipeline = Pipeline.from_json(sys.argv[1])
        begin = contender(pipeline)

        def one_pass() -> dict[str, float]:
            num_elements, first = 0, None
            for batch in begin():
                num_elements += len(batch)
                first = batch[0]
            _check(pipeline, num_elements, first)
            return {}

        return one_pass

    serve_rounds(build)


def _check(pipeline: Pipeline, num_elements: int, element: Any) -> None:
    """Checks that the contender did the same work; otherwise it fails."""
    expected = (pipeline.num_elements, pipeline.shape, pipeline.dtype)
    got = (num_elements, getattr(element, "shape", None), str(getattr(element, "dtype", None)))
    if got != expected:
        raise ValueError(f"A pass gave (elements, shape, dtype) {got}, expected {expected}.")
