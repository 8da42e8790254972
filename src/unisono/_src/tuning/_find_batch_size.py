"""`unisono.find_batch_size`."""

from __future__ import annotations

from typing import Any, Final

from unisono._src.core import parse_bytes
from unisono._src.planning import device_memory, examine_model, search_largest_batch

_NAME: Final = "find_batch_size"

NO_MEMORY = """find_batch_size: {device} does not report how much memory it has, as CPU devices never do. Say how much
one device may use: unisono.find_batch_size(model, data, memory="8GB")."""


def find_batch_size(model: Any, data: Any, *, memory: int | str | None = None) -> int:
    """The largest global batch with which a training step of ``model`` fits into the memory of its devices.

    Steps are compiled, and XLA says how much memory each of them needs; none is run. The model is built if it is not
    yet; its weights, its optimizer, its metrics and all random states stay as they are.

    ```python
    model.fit(x, y, batch_size=unisono.find_batch_size(model, (x, y)))
    ```

    Each replica gets equally many rows, 1 to 16, 18, 20, … 32, 36, …: a larger batch than the result by an eighth may
    not fit. It is never larger than the data, if that is arrays.

    Args:
        model: a compiled model of a strategy.
        data: what its rows look like: a tuple ``(x, y)`` or ``(x, y, sample_weight)`` of arrays, a batched
            `unisono.data.Dataset`, or a `keras.utils.PyDataset`. One batch of it is read.
        memory: how many bytes one device may use, as a number or a text such as "8GB". Without it, 95 % of what the
            device reports. CPU devices report nothing, so there it has to be given.
    """
    with examine_model(model, data, None, _NAME) as examined:
        devices = examined.call.placement.local_devices
        limit = device_memory(devices[0]) if memory is None else parse_bytes(memory)
        if limit is None:
            raise ValueError(NO_MEMORY.format(device=devices[0]))
        compiler, batch = examined.compiler, examined.batch
        found = search_largest_batch(
            lambda rows: compiler.memory(compiler.compile(batch.spec(rows)), batch.resident_bytes).total,
            examined.call.placement.num_replicas,
            limit,
            num_rows=batch.num_rows,
            function=_NAME,
        )
    return found.global_batch_size
