"""The script of one process among those whose collectives are timed; `_exchange_time.measure_processes` starts it."""

from __future__ import annotations

import json
import sys

from unisono._src.planning._collectives import Collective
from unisono._src.planning._exchange_time import time_collectives
from unisono._src.processes import processes
from unisono._src.strategy import MultiWorkerMirroredStrategy


def main() -> None:
    """Joins the other processes, times the collectives, and prints the seconds on the chief."""
    strategy = MultiWorkerMirroredStrategy()
    collectives = [Collective(kind, size) for kind, size in json.loads(sys.argv[1])]
    seconds = time_collectives(collectives, strategy.placement.devices)
    if processes().is_chief:
        print(f"seconds={seconds}", flush=True)


if __name__ == "__main__":
    main()
