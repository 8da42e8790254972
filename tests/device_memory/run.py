"""Measures the memory of a device for each strategy, in a process each, and writes lines of JSON: FILE [NAMES].

`make sharding` runs it for the large model, and writes the results into docs/sharding.md.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import unisono

unisono.config.set_cpu_devices(8)

from tests.device_memory._from_shapes import memory_of  # noqa: E402
from tests.device_memory._state import state_of_devices  # noqa: E402
from tests.device_memory._transformer import CONFIGURATIONS, LARGE  # noqa: E402

SECONDS = 1800


def measure(name: str) -> dict[str, object]:
    """The figures of one strategy."""
    memory, _ = memory_of(CONFIGURATIONS[name], LARGE)
    allocated = state_of_devices(CONFIGURATIONS[name], LARGE, memory.state)
    return {"name": name, "allocated": allocated, **dataclasses.asdict(memory)}


def main(path: Path, names: list[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    for name in names:
        command = [sys.executable, "-m", "tests.device_memory.run", "--one", name]
        line = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=SECONDS).stdout
        print(line, end="", flush=True)
        with path.open("a") as file:
            file.write(line)


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        print(json.dumps(measure(sys.argv[2])))
    else:
        main(Path(sys.argv[1]), sys.argv[2:] or list(CONFIGURATIONS))
