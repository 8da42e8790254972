"""JAX's persistent cache of compiled programs: a folder of the user's for all runs, or the folder of one run.

Programs of a GPU take seconds to minutes to compile, and the same script starts many times. JAX stores programs only if
it is given a folder. What is in that folder is code that JAX runs, so it must belong to the user alone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import jax

from unisono._src.devices._settings import is_deterministic

# The programs of ResNet-50 take 3.2 MB, those of GPT-2 small 1.4 MB.
_MAX_BYTES: Final = 2 << 30

_SECONDS_SAVED: Final = "/jax/compilation_cache/compile_time_saved_sec"

# A program that is loaded this much faster than compiled is worth a line.
_LEAST_SECONDS_SAVED: Final = 1.0


def user_cache_folder() -> Path:
    """Where compiled programs of all runs are stored: ``~/.cache/unisono/programs``, or below ``XDG_CACHE_HOME``."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "unisono" / "programs"


def use_user_cache(platform: str, *, spans_processes: bool) -> None:
    """Stores compiled programs in the user's cache folder, unless JAX already has a folder or is set to use none.

    Only for the GPUs and TPUs of one process. CPU programs are quick to compile, and their machine code may not run on
    another machine that has the same home folder. Several processes have to find a program all or none: XLA divides its
    search for fast kernels among them, and one that loads the program would not take part.
    """
    if platform == "cpu" or spans_processes or is_deterministic():
        return
    if _configured("jax_compilation_cache_dir") or not _configured("jax_enable_compilation_cache"):
        return
    folder = user_cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        problem = _find_problem(folder)
        if problem is None:
            remove_oldest(folder, _MAX_BYTES)
    except OSError as error:
        problem = str(error)
    if problem:
        warnings.warn(
            f"Compiled programs are not stored for later runs: {problem}. Set JAX_COMPILATION_CACHE_DIR to a folder of "
            "yours, or JAX_ENABLE_COMPILATION_CACHE=false to go without.",
            stacklevel=4,
        )
        return
    use_cache(folder)


def use_cache(folder: Path) -> None:
    """Stores every compiled program in ``folder``, where later processes find it.

    Small ones too, which JAX by itself would not store: together the programs that initialise a ResNet-50 take 5 s to
    compile on an H200.
    """
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


@contextlib.contextmanager
def report_loaded_programs(report: Callable[[str], object]) -> Iterator[None]:
    """Reports each program that is loaded inside the block and would have taken a second or more to compile."""

    def listen(event: str, duration_secs: float, **_: Any) -> None:
        if event == _SECONDS_SAVED and duration_secs >= _LEAST_SECONDS_SAVED:
            folder = _configured("jax_compilation_cache_dir")
            report(f"Loaded a compiled program from {folder}, which saved {duration_secs:.1f} s.")

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


def remove_oldest(folder: Path, max_bytes: int) -> None:
    """Removes the files of ``folder`` that were read or written longest ago until the rest fits in ``max_bytes``."""
    files = []
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # another process may be removing files too
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                files.append((max(status.st_atime, status.st_mtime), status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= max_bytes:
            break
        path.unlink(missing_ok=True)
        total -= size


def remove_unused_folders(parent: Path, days: float) -> None:
    """Removes the folders in ``parent`` of which no file was read or written for so many days."""
    oldest = time.time() - days * 86_400
    for folder in parent.iterdir() if parent.is_dir() else ():
        with contextlib.suppress(OSError):  # another process may be removing it too
            if _last_use(folder) < oldest:
                shutil.rmtree(folder, ignore_errors=True)


def _last_use(folder: Path) -> float:
    statuses = [path.lstat() for path in (folder, *folder.rglob("*"))]
    # Folders are read here: the time of that says nothing.
    return max(each.st_mtime if stat.S_ISDIR(each.st_mode) else max(each.st_atime, each.st_mtime) for each in statuses)


def _configured(name: str) -> Any:
    return getattr(jax.config, name)  # JAX's types do not know its options


def _find_problem(folder: Path) -> str | None:
    """Why programs from ``folder`` must not be run; None if it belongs to this user, and only this user can write."""
    status = folder.stat()
    if status.st_uid != os.getuid():
        return f"{folder} belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"other users can write to {folder}"
    return None if os.access(folder, os.W_OK) else f"{folder} cannot be written to"
