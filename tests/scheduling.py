"""How pytest-xdist divides tests among its processes: by file, so that they share fixtures; long tables in parts."""

from __future__ import annotations

import zlib
from typing import Final

from xdist.scheduler import LoadFileScheduling

# Each of their tests starts processes of its own and shares little with the others; one after the other they would take
# longer than all other tests together.
_TABLES: Final = (
    "attacks/test_table.py",
    "faults/test_table.py",
    "tf/test_scripts.py",
    "tf/test_user_scripts.py",
)
_PARTS: Final = 12


class ScheduleFilesAndParts(LoadFileScheduling):
    """One unit of work for a file, several for a table."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        if not file.endswith(_TABLES):
            return file
        return f"{file} {zlib.crc32(nodeid.encode()) % _PARTS}"
