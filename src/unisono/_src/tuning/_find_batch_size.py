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

    Steps are compiled but not run: XLA reports how much memory each one needs. If the model is not built yet, it is
    built. Its weights, optimizer and metrics, and all random states do not change.

    ```python
    model.fit(x, y, batch_size=unisono.find_batch_size(model, (x, y)))
    ```

    All replicas get the same number of rows. To compile only a few programs, the search considers every number of rows
    up to 16, every second one up to 32, every fourth one up to 64, and so on. For arrays, the result is never larger
    than the data.

    Args:
        model: a compiled model of a strategy.
        data: an example of its input: a tuple ``(x, y)`` or ``(x, y, sample_weight)`` of arrays, a batched
            `unisono.data.Dataset`, or a `keras.utils.PyDataset`. One batch of it is read.
        memory: how many bytes one device may use, as a number or a string such as "8GB" (default: 95 % of the memory
            that the device reports). CPU devices do not report any, so it is required there.
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
