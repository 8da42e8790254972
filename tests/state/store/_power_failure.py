"""What a disk may hold after a power failure: a model of a file system that keeps only what was synced.

`fsync` of a file makes its content durable, `fsync` of a folder the names in it. Anything else may be on the disk or
not. Two images are the worst of what there can be:

    synced     the names and contents that were synced, and nothing else
    names      all names as they are, but only contents that were synced: other files are empty
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

IMAGES: Final = ("synced", "names")


class Disk:
    """Follows what is synced below ``root`` while :meth:`recording`, and makes images of it.

    Args:
        root: a folder that is on the disk with everything that is in it now.
        at_each_moment: called before and after every sync and every rename.
    """

    def __init__(self, root: Path, at_each_moment: Callable[[Disk], None] = lambda disk: None) -> None:
        self._root, self._at_each_moment = root, at_each_moment
        self._contents: dict[int, bytes] = {}
        self._names: dict[int, dict[str, tuple[int, bool]]] = {}
        self._held: list[int] = []  # open files, so that no number is used again
        self._is_busy = False
        for folder, _, files in os.walk(root):
            for path in (Path(folder), *(Path(folder, name) for name in files)):
                self._note_synced(path)

    @contextlib.contextmanager
    def recording(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Follows the syncs and renames of this process."""

        def around(function: Callable[..., Any], *, syncs: bool = False) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                if self._is_busy:
                    return function(*args, **kwargs)
                self.moment()
                result = function(*args, **kwargs)
                if syncs:
                    self._note_synced(Path(f"/proc/self/fd/{args[0]}").resolve())
                self.moment()
                return result

            return call

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", around(os.fsync, syncs=True))
            for name in ("rename", "replace", "unlink", "mkdir"):
                patched.setattr(os, name, around(getattr(os, name)))
            try:
                yield
            finally:
                for fd in self._held:
                    os.close(fd)

    def write_image(self, kind: str, target: Path) -> None:
        """Writes what the disk may hold to the folder ``target``."""
        with self._ignoring():
            self._write(kind, os.stat(self._root).st_ino, self._root, target)

    def moment(self) -> None:
        """The power may fail now."""
        with self._ignoring():
            self._at_each_moment(self)

    @contextlib.contextmanager
    def _ignoring(self) -> Iterator[None]:
        """What is done inside the block is not done to the disk."""
        before, self._is_busy = self._is_busy, True
        try:
            yield
        finally:
            self._is_busy = before

    def _note_synced(self, path: Path) -> None:
        fd = os.open(path, os.O_RDONLY)
        self._held.append(fd)
        found = os.fstat(fd)
        number = found.st_ino
        if stat.S_ISDIR(found.st_mode):
            entries = os.scandir(path)
            self._names[number] = {each.name: (each.inode(), each.is_dir(follow_symlinks=False)) for each in entries}
        else:
            self._contents[number] = path.read_bytes()

    def _write(self, kind: str, number: int, now: Path | None, target: Path) -> None:
        """The folder with this number; ``now`` is where it is at the moment, if it is anywhere."""
        target.mkdir(parents=True, exist_ok=True)
        if kind == "names":
            assert now is not None
            for entry in os.scandir(now):
                if entry.is_dir(follow_symlinks=False):
                    self._write(kind, entry.inode(), Path(entry.path), target / entry.name)
                else:
                    (target / entry.name).write_bytes(self._contents.get(entry.inode(), b""))
            return
        for name, (inode, is_folder) in self._names.get(number, {}).items():
            if is_folder:
                self._write(kind, inode, None, target / name)
            else:
                (target / name).write_bytes(self._contents.get(inode, b""))
