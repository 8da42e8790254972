"""What the devices store of a model that was really made, if this machine has the memory for it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.device_memory._transformer import Configuration, Size, compile_model, make_transformer
from unisono._src.keras_hooks import raw_value

NUM_DEVICES = 8


def state_of_devices(configuration: Configuration, size: Size, expected: int) -> int | None:
    """The bytes of the device that stores most; None if the state of all takes more than half of the free memory."""
    if NUM_DEVICES * expected > _free_memory() / 2:
        return None
    with configuration.strategy().scope():
        model = make_transformer(size)
        compile_model(model)
        model.optimizer.build(model.trainable_variables)
    return max(bytes_of_devices([*model.variables, *model.optimizer.variables]).values())


def bytes_of_devices(variables: list[object]) -> Counter[object]:
    """The bytes of the shards of ``variables`` on each device."""
    stored: Counter[object] = Counter()
    for variable in variables:
        for shard in raw_value(variable).addressable_shards:
            stored[shard.device] += shard.data.nbytes
    return stored


def _free_memory() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
