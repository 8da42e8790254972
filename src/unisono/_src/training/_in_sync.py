"""A consistency check: do all devices and all processes have the same weights?"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from unisono._src.processes import all_gather_json, processes

OUT_OF_SYNC = """The weights are not the same everywhere. {found}
Something was assigned on some processes or devices only: by code that runs on the chief alone, for example, or by a
callback that draws random numbers."""


def check_in_sync(model: Any) -> None:
    """Raises ``RuntimeError`` if a variable of ``model`` or its optimizer differs between devices or processes.

    All processes of a job have to call it. `unisono.config.set_sync_check(True)` calls it after every epoch of `fit`.
    """
    variables = [*model.variables, *(model.optimizer.variables if model.optimizer else [])]
    first: list[dict[str, str]] = [{} for _ in variables]
    for name, digests in zip(processes().names, all_gather_json([_digests(each) for each in variables]), strict=True):
        for variable, known, found in zip(variables, first, digests, strict=True):
            if any(len(copies) > 1 for copies in found.values()):
                raise RuntimeError(OUT_OF_SYNC.format(found=f"{variable.path} differs between the devices of {name}."))
            if any(known.setdefault(index, copies[0]) != copies[0] for index, copies in found.items()):
                raise RuntimeError(OUT_OF_SYNC.format(found=f"{variable.path} differs in {name}."))


def _digests(variable: Any) -> dict[str, list[str]]:
    """By index, of the parts that this process stores; several for a part of which its devices store different copies.

    Raises nothing: the other processes would wait.
    """
    digests: dict[str, set[str]] = {}
    for shard in variable._value.addressable_shards:
        digest = hashlib.sha256(np.asarray(shard.data).tobytes()).hexdigest()[:16]
        digests.setdefault(str(shard.index), set()).add(digest)
    return {index: sorted(copies) for index, copies in digests.items()}
