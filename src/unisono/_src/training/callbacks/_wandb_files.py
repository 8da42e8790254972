"""What the files that `wandb` wrote offline hold.

Checked against wandb 0.31: `wandb/offline-run-TIME-ID/run-ID.wandb` is a log of records in blocks of 32 KiB, in
LevelDB's format: a header of 7 bytes (checksum, length, kind), then the record or a part of it. The last block is on
disk when it is full or the run has ended. `wandb sync` appends several files of one run in the order of their start.
"""

from __future__ import annotations

import glob
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

_MAGIC: Final = b":W&B"
_FILE_HEADER: Final = 7
_RECORD_HEADER: Final = struct.Struct("<IHB")
BLOCK: Final = 32 * 1024
_WHOLE, _LAST = 1, 4  # kinds of parts that end a record


def read_rows(folder: Path, run_id: str) -> Iterator[dict[str, Any]]:
    """The rows of all offline files of a run below ``folder``, which is usually called "wandb"."""
    from wandb.proto.wandb_internal_pb2 import Record

    name = glob.escape(run_id)
    for path in sorted(folder.glob(f"offline-run-*-{name}/run-{name}.wandb")):
        for data in _read_records(path.read_bytes()):
            record = Record.FromString(data)
            if record.WhichOneof("record_type") == "history":
                yield {
                    item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item
                }


def _read_records(data: bytes) -> Iterator[bytes]:
    """Complete records. The file of a process that was killed may end within one."""
    at, record = _FILE_HEADER if data.startswith(_MAGIC) else len(data), b""
    while at + _RECORD_HEADER.size <= len(data):
        left = BLOCK - at % BLOCK
        if left < _RECORD_HEADER.size:  # the rest of a block is padding
            at += left
            continue
        _, length, kind = _RECORD_HEADER.unpack_from(data, at)
        at += _RECORD_HEADER.size
        if not kind or at + length > len(data):
            return
        record += data[at : at + length]
        at += length
        if kind in (_WHOLE, _LAST):
            yield record
            record = b""
