"""Compiled programs that are kept from one run of the tests to the next: XLA takes most of the time of a run.

JAX finds a program by what it computes, by its options and by the version of XLA, so that what changed is compiled
again. Each process has a folder of its own, with links to what is stored, and stores what it has compiled when it ends:
JAX writes entries in place, and would read half of one in a folder that processes share.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import zlib
from pathlib import Path

from jaxlib.version import __version__ as jaxlib_version

_MAX_BYTES = 2 * 10**9


def _describe_cpu() -> str:
    """What programs for this machine may use: instructions that another one may not have."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return " ".join(line for line in lines if line.startswith(("model name", "flags", "Features")))


_MACHINE = hashlib.sha256(f"{platform.platform()} {_describe_cpu()}".encode()).hexdigest()[:12]
FOLDER = Path(__file__).parents[1] / "build" / "compiled-programs" / f"{jaxlib_version}-{_MACHINE}"


def link_stored_programs(folder: str) -> None:
    """Makes all stored programs available in ``folder``, which is empty."""
    if FOLDER.is_dir():
        for entry in os.scandir(FOLDER):
            os.symlink(entry.path, os.path.join(folder, entry.name))


def store_programs(folder: str) -> None:
    """Stores the programs that were added to ``folder``, except for one that a killed process has left unfinished."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for entry in os.scandir(folder):
        if not entry.is_symlink() and _is_whole(Path(entry.path)):
            staged = FOLDER.with_name(f"{FOLDER.name}-{os.getpid()}")
            shutil.copyfile(entry.path, staged)
            staged.replace(FOLDER / entry.name)
    if sum(entry.stat().st_size for entry in os.scandir(FOLDER)) > _MAX_BYTES:
        shutil.rmtree(FOLDER, ignore_errors=True)


def _is_whole(entry: Path) -> bool:
    try:
        zlib.decompress(entry.read_bytes())
    except (OSError, zlib.error):  # unfinished, or compressed otherwise by another JAX
        return False
    return True
