"""Compiled programs that processes share, and keep from one run of the tests to the next: XLA takes most of the time.

JAX finds a program by what it computes, by its options and by the version of XLA, so that what changed is compiled
again. Each process has a folder of its own, with links to what is stored, and stores what it has compiled after each
file of tests: JAX writes entries in place, and would read half of one in a folder that processes share.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import zlib
from pathlib import Path

from jaxlib.version import __version__ as jaxlib_version

_MAX_BYTES = 4 * 10**9  # `make test-all` stores more than 2 GB


def _describe_cpu() -> str:
    """What programs for this machine may use: instructions that another one may not have."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return " ".join(line for line in lines if line.startswith(("model name", "flags", "Features")))


_MACHINE = hashlib.sha256(f"{platform.platform()} {_describe_cpu()}".encode()).hexdigest()[:12]
FOLDER = Path(__file__).parents[1] / "build" / "compiled-programs" / f"{jaxlib_version}-{_MACHINE}"


def exchange_programs(folder: str) -> None:
    """Stores the programs that were added to ``folder``, and links what others have stored since."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    known = set()
    for entry in os.scandir(folder):
        known.add(entry.name)
        if not entry.is_symlink() and _is_whole(Path(entry.path)):
            staged = FOLDER.with_name(f"{FOLDER.name}-{os.getpid()}")
            shutil.copyfile(entry.path, staged)
            staged.replace(FOLDER / entry.name)
            _link(FOLDER / entry.name, Path(entry.path))
    for name in set(os.listdir(FOLDER)) - known:
        _link(FOLDER / name, Path(folder, name))


def remove_oldest_programs() -> None:
    """Removes those that were stored first, if all take too much room. Other processes may do the same now."""
    found = []
    for entry in os.scandir(FOLDER):
        with contextlib.suppress(FileNotFoundError):
            facts = entry.stat()
            found.append((facts.st_mtime_ns, facts.st_size, entry.path))
    surplus = sum(size for _, size, _ in found) - _MAX_BYTES
    for _, size, path in sorted(found):
        if surplus <= 0:
            return
        Path(path).unlink(missing_ok=True)
        surplus -= size


def _link(program: Path, link: Path) -> None:
    """Replaces what is at ``link``, which another thread may read."""
    staged = link.with_name(f"{link.name}-link")
    os.symlink(program, staged)
    staged.replace(link)


def _is_whole(entry: Path) -> bool:
    """Not if a process was killed while it wrote, or if another thread writes now."""
    try:
        zlib.decompress(entry.read_bytes())
    except (OSError, zlib.error):  # unfinished, or compressed otherwise by another JAX
        return False
    return True
