"""A check for the doubtful: do all devices and all processes hold the same weights?"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from unisono._src.processes import all_gather_host, processes

APART = """The weights are not the same everywhere. {found}
Something was assigned on some processes or devices and not on the others: by code that runs on the chief only, say, or
by a callback that draws random numbers."""


def check_in_sync(model: Any) -> None:
    """Raises ``RuntimeError`` if a variable of ``model`` or its optimizer differs between devices or processes.

    All processes of a job have to call it. `unisono.config.set_sync_check(True)` calls it after every epoch of `fit`.

    ```python
    unisono._src.training.check_in_sync(model)
    ```
    """
    variables = [*model.variables, *(model.optimizer.variables if model.optimizer else [])]
    digests = [_digests(variable) for variable in variables]
    for variable, of_devices in zip(variables, digests, strict=True):
        if len(set(of_devices)) > 1:
            raise RuntimeError(APART.format(found=f"{variable.path} differs between the devices of this process."))
    every = all_gather_host(np.array([of_devices[0] for of_devices in digests], np.uint64))
    for number, variable in enumerate(variables):
        if len(set(every[:, number].tolist())) > 1:
            names = processes().names
            other = next(index for index in range(len(names)) if every[index, number] != every[0, number])
            raise RuntimeError(APART.format(found=f"{variable.path} is another one in {names[other]}."))


def _digests(variable: Any) -> list[int]:
    """A number for the value on each device of this process."""
    shards = [np.asarray(shard.data) for shard in variable._value.addressable_shards]
    return [int.from_bytes(hashlib.sha256(shard.tobytes()).digest()[:8], "little") for shard in shards]
