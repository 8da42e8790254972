"""A consistency check: do all devices and all processes have the same weights?"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from unisono._src.processes import all_gather_host, processes

OUT_OF_SYNC = """The weights are not the same everywhere. {found}
Something was assigned on some processes or devices only: by code that runs on the chief alone, for example, or by a
callback that draws random numbers."""


def check_in_sync(model: Any) -> None:
    """Raises ``RuntimeError`` if a variable of ``model`` or its optimizer differs between devices or processes.

    All processes of a job have to call it. `unisono.config.set_sync_check(True)` calls it after every epoch of `fit`.

    ```python
    unisono._src.training.check_in_sync(model)
    ```
    """
    variables = [*model.variables, *(model.optimizer.variables if model.optimizer else [])]
    digests = [_digest(variable) for variable in variables]
    gathered = all_gather_host(np.array(digests, np.uint64))
    for number, variable in enumerate(variables):
        if len(set(gathered[:, number].tolist())) > 1:
            names = processes().names
            other = next(index for index in range(len(names)) if gathered[index, number] != gathered[0, number])
            raise RuntimeError(OUT_OF_SYNC.format(found=f"{variable.path} differs in {names[other]}."))


def _digest(variable: Any) -> int:
    """A number for the value that this process stores; an error if its devices store different copies of one shard."""
    digests: dict[str, bytes] = {}
    for shard in variable._value.addressable_shards:
        digest = hashlib.sha256(np.asarray(shard.data).tobytes()).digest()
        if digests.setdefault(str(shard.index), digest) != digest:
            raise RuntimeError(
                OUT_OF_SYNC.format(found=f"{variable.path} differs between the devices of this process.")
            )
    return int.from_bytes(hashlib.sha256(b"".join(digests.values())).digest()[:8], "little")
