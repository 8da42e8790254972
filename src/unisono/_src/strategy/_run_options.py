"""Options of `strategy.run`."""

from __future__ import annotations

from typing import Any, NamedTuple


class RunOptions(NamedTuple):
    """What tf.distribute lets one say about TPUs. Accepted, and of no effect: XLA compiles for the shapes there are."""

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None
