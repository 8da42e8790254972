"""Folders and files that fsspec reaches, such as objects of a bucket, by URL."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, final

from unisono._src.state.store._errors import CheckpointError, explain_os_error, is_full

_MAX_REQUESTS: Final = 16  # at the same time

NO_FSSPEC = """{url!r} is the URL of a store, and the package fsspec is not installed, which connects to it. Install it
with the package of the store. For gs://: pip install fsspec gcsfs; for s3://: pip install fsspec s3fs"""

NO_STORE = """{url!r} cannot be reached: {error}. Install the package of this store, such as gcsfs for gs:// or s3fs for
s3://, or write a folder of this machine without '://'."""

NO_BUCKET = """{url!r} could not be written: {error}. Make the bucket first, or correct its name."""

FAILED = """{url!r} could not be {what}: {kind}: {error}. Check the address, the network, and whether the credentials of
this process allow it."""


@final
class RemotePath:
    """A folder or a file of a store. A store has names and contents, and no folders of its own: a folder is what the
    names of several files begin with.

    Nothing is cached. What goes wrong is a CheckpointError, except that there is no such file.
    """

    def __init__(self, url: str) -> None:
        scheme, _, rest = url.partition("://")
        self._url = f"{scheme}://{rest.rstrip('/')}"

    def connect(self) -> None:
        """Raises an error that says what to install if fsspec, or its package for this store, is missing."""
        _ = self._store

    @property
    def name(self) -> str:
        return self._url.rpartition("/")[2]

    @property
    def parent(self) -> RemotePath:
        return RemotePath(self._url.rpartition("/")[0])

    def with_name(self, name: str) -> RemotePath:
        return self.parent / name

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(f"{self._url}/{name}" if name else self._url)

    def __str__(self) -> str:
        return self._url

    def __repr__(self) -> str:
        return f"RemotePath({self._url!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and self._url == other._url

    def __hash__(self) -> int:
        return hash(self._url)

    def size(self) -> int | None:
        """The size of the file; None if there is no such file. (`exists` of fsspec is False for every error.)"""
        with _explained(self, "examined"):
            self._forget()
            try:
                found = self._store.info(self._key)
            except FileNotFoundError:
                return None
        return int(found["size"]) if found["type"] == "file" else None

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """The bytes of a file, or those from ``start`` to ``stop``; FileNotFoundError if there is none."""
        with _explained(self, "read"):
            whole = start == 0 and stop is None
            data: bytes = self._store.cat_file(self._key, **({} if whole else {"start": start, "end": stop}))
        return data

    def write(self, data: bytes) -> None:
        """Writes a file, at once: in an object store it is there completely or not at all."""
        with _explained(self, "written"):
            self._store.pipe_file(self._key, data)

    def upload(self, path: Path) -> None:
        """Writes a file from one of this machine."""
        with _explained(self, "written"):
            self._store.put_file(str(path), self._key)

    def download(self, path: Path) -> None:
        """Copies the file to this machine; FileNotFoundError if there is none."""
        with _explained(self, "read"):
            self._store.get_file(self._key, str(path))

    def delete(self) -> None:
        """Deletes a file, if it is there."""
        with _explained(self, "deleted"), contextlib.suppress(FileNotFoundError):
            self._store.rm_file(self._key)

    def names(self) -> dict[str, int | None]:
        """What is in the folder: the size of each file, and None for each folder."""
        # Not with `find`: for many stores it takes an error for an empty folder.
        with _explained(self, "listed"):
            self._forget()
            try:
                entries = self._store.ls(self._key, detail=True)
            except FileNotFoundError:
                return {}
        found = {entry["name"].rstrip("/"): entry for entry in entries}
        found.pop(self._key.rstrip("/"), None)  # an empty object that stands for the folder
        return {
            name.rpartition("/")[2]: int(entry["size"]) if entry["type"] == "file" else None
            for name, entry in found.items()
        }

    @functools.cached_property
    def _connection(self) -> tuple[Any, str]:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise ModuleNotFoundError(NO_FSSPEC.format(url=self._url)) from None
        try:
            store, key = url_to_fs(self._url)
        except (ImportError, ValueError) as error:
            raise type(error)(NO_STORE.format(url=self._url, error=str(error).rstrip("."))) from error
        except Exception as error:
            raise CheckpointError(
                FAILED.format(url=self._url, what="reached", kind=type(error).__name__, error=error)
            ) from error
        return store, key

    @property
    def _store(self) -> Any:
        return self._connection[0]

    @property
    def _key(self) -> str:
        return self._connection[1]

    def _forget(self) -> None:
        self._store.invalidate_cache(self._key)


def map_concurrently(function: Any, values: Any) -> list[Any]:
    """``function`` of each value, with several requests at the same time."""
    values = list(values)
    if len(values) < 2:
        return [function(value) for value in values]
    with ThreadPoolExecutor(min(len(values), _MAX_REQUESTS)) as pool:
        try:
            results = pool.map(function, values)
        except RuntimeError:  # the script has ended: Python waits for the last write, but starts no more threads
            results = map(function, values)
        return list(results)


@contextlib.contextmanager
def _explained(path: RemotePath, what: str) -> Iterator[None]:
    try:
        yield
    except (CheckpointError, ImportError):
        raise
    except FileNotFoundError as error:
        if what != "written":
            raise
        raise CheckpointError(NO_BUCKET.format(url=str(path), error=error)) from error
    except Exception as error:  # each package has errors of its own
        if isinstance(error, OSError) and is_full(error):
            raise explain_os_error(error, what, path) from error
        raise CheckpointError(
            FAILED.format(url=str(path), what=what, kind=type(error).__name__, error=error)
        ) from error
