"""`model.fit` under a strategy of Unisono that shards the state."""

from __future__ import annotations

from typing import Any

from _transformer import ShardedWork

import unisono
from contenders._keras_transformer import new_model, serve_fit


def build(work: ShardedWork) -> tuple[Any, list[Any]]:
    devices = [f"cpu:{index}" for index in range(work.devices)]
    strategy: unisono.Strategy
    if work.sharding == "zero3":
        strategy = unisono.FullyShardedStrategy(devices)
    else:
        strategy = unisono.ModelParallelStrategy(work.mesh, devices=devices)
    with strategy.scope():
        return new_model(work), []


if __name__ == "__main__":
    serve_fit(build)
