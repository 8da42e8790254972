"""Processes that know nothing but the store, to be killed; disks that can be mounted, to be filled."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import unisono

# The package without what its __init__ imports: a child is there in a tenth of a second, and the store is seen to need
# neither JAX nor Keras.
_PREAMBLE = """
import sys, types
unisono = types.ModuleType("unisono")
unisono.__path__ = [sys.argv.pop(1)]
sys.modules["unisono"] = unisono
import os, signal, time
from pathlib import Path
import numpy as np
from unisono._src.state.store import *
"""

Child = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def child() -> Iterator[Child]:
    """Starts Python with the store imported and a piece of code to run. Killed at the end of the test at the latest."""
    started = []

    def start(code: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _PREAMBLE + code, str(Path(unisono.__file__).parent), *map(str, arguments)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=60)


Mount = Callable[..., Path]


@pytest.fixture
def mount() -> Iterator[Mount]:
    """Mounts something at a folder, as the command with these arguments does. Skips the test where it may not."""
    mounted = []

    def do(folder: Path, *arguments: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        if os.getuid() or shutil.which("mount") is None:
            pytest.skip("Only root can mount, and only where there is a mount command.")
        done = subprocess.run(["mount", *arguments, str(folder)], capture_output=True, text=True, timeout=60)
        if done.returncode:
            pytest.skip(f"mount {' '.join(arguments)}: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield do
    for folder in reversed(mounted):
        subprocess.run(["umount", "-l", str(folder)], check=True, timeout=60)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can reach, as those of tmp_path are not."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)
