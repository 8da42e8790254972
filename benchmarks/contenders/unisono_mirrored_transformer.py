"""The same model under `unisono.MirroredStrategy`: what sharding costs."""

from __future__ import annotations

from typing import Any

from _transformer import ShardedWork

import unisono
from contenders._keras_transformer import new_model, serve_fit


def build(work: ShardedWork) -> tuple[Any, list[Any]]:
    with unisono.MirroredStrategy([f"cpu:{index}" for index in range(work.devices)]).scope():
        return new_model(work), []


if __name__ == "__main__":
    serve_fit(build)
