"""Stock `model.fit` under `keras.distribution.ModelParallel`, with the layouts of the other contenders."""

from __future__ import annotations

from typing import Any

import keras
from _transformer import ShardedWork, weight_axes

from contenders._keras_transformer import new_model, serve_fit
from contenders.keras_fit import BoundedLaunches


def build(work: ShardedWork) -> tuple[Any, list[Any]]:
    devices = [f"cpu:{index}" for index in range(work.devices)]
    mesh = keras.distribution.DeviceMesh(tuple(work.mesh.values()), list(work.mesh), devices)
    layouts = keras.distribution.LayoutMap(mesh)
    for path, axes in weight_axes(work).items():
        layouts[path] = axes
    keras.distribution.set_distribution(
        keras.distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch", auto_shard_dataset=False)
    )
    return new_model(work), [BoundedLaunches()]


if __name__ == "__main__":
    serve_fit(build)
