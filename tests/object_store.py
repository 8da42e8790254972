"""A store for fsspec with the semantics of a bucket, and nothing else: it raises for what a bucket cannot do.

It has names and contents. A content is written at once, completely or not at all; it cannot be appended to or changed.
There are no folders and no renames; a listing is by the beginning of names, and shows what was written before. It is
kept in a folder of this machine, so that several processes see the same, and so that it can be copied at any moment.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import fsspec
from fsspec.spec import AbstractFileSystem

FOLDER_VARIABLE = "UNISONO_TEST_OBJECT_STORE"


class ObjectStore(AbstractFileSystem):
    """The store in the folder ``UNISONO_TEST_OBJECT_STORE``. URLs are ``objects://bucket/name``.

    `ObjectStore.before` is called with the name of every operation and its object, and may raise.
    """

    protocol = "objects"
    cachable = False
    before: Callable[[str, str], None] = staticmethod(lambda operation, key: None)

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        key = self._begin("info", path)
        try:
            return {"name": key, "size": self._file(key).stat().st_size, "type": "file"}
        except FileNotFoundError:
            if any(each.startswith(f"{key}/") for each in self._keys()):
                return {"name": key, "size": 0, "type": "directory"}
            raise FileNotFoundError(path) from None

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        key = self._begin("ls", path)
        found: dict[str, dict[str, Any]] = {}
        for each in self._keys():
            if each.startswith(f"{key}/"):
                name, _, below = each[len(key) + 1 :].partition("/")
                full = f"{key}/{name}"
                size = 0 if below else self._file(each).stat().st_size
                found[full] = {"name": full, "size": size, "type": "directory" if below else "file"}
        if not found:
            raise FileNotFoundError(path)
        return list(found.values()) if detail else list(found)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        key = self._begin("cat_file", path)
        return self._file(key).read_bytes()[start:end]

    def get_file(self, rpath: str, lpath: str, **_: Any) -> None:
        Path(lpath).write_bytes(self._file(self._begin("get_file", rpath)).read_bytes())

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: Any) -> None:
        assert mode == "overwrite"
        self._put(self._begin("pipe_file", path), value)

    def put_file(self, lpath: str, rpath: str, **_: Any) -> None:
        self._put(self._begin("put_file", rpath), Path(lpath).read_bytes())

    def rm_file(self, path: str) -> None:
        self._file(self._begin("rm_file", path)).unlink()

    def _put(self, key: str, value: bytes) -> None:
        temporary = _folder() / f".{os.getpid()}-{id(value)}"
        temporary.write_bytes(value)
        os.replace(temporary, self._file(key))

    def _begin(self, operation: str, path: str) -> str:
        key = self._strip_protocol(path)
        type(self).before(operation, key)
        return key

    def _keys(self) -> list[str]:
        names = os.listdir(_folder()) if _folder().exists() else []  # a bucket that was never made
        return [unquote(name) for name in sorted(names) if not name.startswith(".")]

    def _file(self, key: str) -> Path:
        return _folder() / quote(key, safe="")

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError(f"a bucket cannot do this: {args} {kwargs}")

    mkdir = makedirs = rmdir = mv = cp_file = _open = created = modified = touch = _refuse


def _folder() -> Path:
    return Path(os.environ[FOLDER_VARIABLE])


def copy_store(target: Path) -> Path:
    """A copy of the store as it is now."""
    return Path(shutil.copytree(_folder(), target))


fsspec.register_implementation("objects", ObjectStore, clobber=True)
