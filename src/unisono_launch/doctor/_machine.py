"""The machine: operating system, Python, cores, memory."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from unisono_launch.doctor._finding import Finding, format_count, format_gigabytes

NAME = "machine"


def check_machine(root: Path = Path("/")) -> Finding:
    """What this machine is. Always "ok": what is too small shows in other checks."""
    cores, usable = os.cpu_count() or 1, _usable_cores()
    memory = _memory()
    limit, free = _memory_limit(root, memory), _free_memory(root)
    facts = {
        "os": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "cores": cores,
        "usable_cores": usable,
        "memory_bytes": memory,
        "memory_limit_bytes": limit,
        "free_memory_bytes": free,
    }
    allowed = f", of which this process may use {usable}" if usable < cores else ""
    bound = f", limited to {format_gigabytes(limit)} by the container" if limit is not None else ""
    text = (
        f"{facts['os']} ({facts['architecture']}), Python {facts['python']}, {format_count(cores, 'core')}{allowed}, "
        f"{format_gigabytes(memory)} memory{bound}"
    )
    return Finding(NAME, "ok", text if free is None else f"{text}, {format_gigabytes(free)} free", None, facts)


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _memory_limit(root: Path, memory: int) -> int | None:
    """The limit of the container, of cgroups of version 2 ("max" for none) or 1 (2⁶³ for none); None: there is none."""
    for name in ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = (root / name).read_text().strip()
        except OSError:
            continue
        return int(text) if text.isdecimal() and int(text) < memory else None
    return None


def _free_memory(root: Path) -> int | None:
    """What new programs can have, without caches; None without Linux's `/proc`."""
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    kilobytes = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), None)
    return None if kilobytes is None else 1024 * int(kilobytes)
