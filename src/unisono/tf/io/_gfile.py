"""`tf.io.gfile.GFile`: a file object that is opened when it is first used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from unisono.tf import errors
from unisono.tf._paths import to_local_path, translate_os_errors

_MODES: Final = ("r", "w", "a", "r+", "w+", "a+")


class GFile:
    """A local file. Sizes and positions are counted in bytes, in text files too.

    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "greeting")
    >>> with GFile(path, "w") as file:
    ...     file.write("hello")
    >>> GFile(path).read(), GFile(path, "rb").read()
    ('hello', b'hello')

    Args:
        name: the path.
        mode: "r", "w", "a", with "+" for both reading and writing, with "b" for bytes instead of text.
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        if mode.replace("b", "") not in _MODES:
            raise errors.InvalidArgumentError(None, None, f"GFile: mode is {mode!r}. Expected one of {_MODES}.")
        self._name, self._mode = to_local_path(name, "tf.io.gfile.GFile"), mode
        self._file: BinaryIO | None = None

    @property
    def name(self) -> str:
        """The path of the file."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode in which it is opened."""
        return self._mode

    def size(self) -> int:
        """The size in bytes."""
        with translate_os_errors(self._name):
            return os.stat(self._name).st_size

    def read(self, n: int = -1) -> Any:
        """Reads ``n`` bytes, decoded in text mode; with -1 all that are left."""
        return self._decode(self._readable().read(n))

    def readline(self) -> Any:
        """Reads a line with its line break; empty at the end of the file."""
        return self._decode(self._readable().readline())

    def readlines(self) -> list[Any]:
        """Reads all remaining lines."""
        return [self._decode(line) for line in self._readable()]

    def write(self, file_content: str | bytes) -> None:
        """Writes text or bytes."""
        if self._mode in ("r", "rb"):
            raise errors.PermissionDeniedError(None, None, f"{self._name} was opened for reading: {self._mode!r}.")
        self._open().write(file_content.encode() if isinstance(file_content, str) else file_content)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Sets the position, relative to the start (0), the current position (1) or the end (2)."""
        self._readable().seek(position if offset is None and position is not None else offset or 0, whence)

    def tell(self) -> int:
        """The current position."""
        return self._open().tell()

    def seekable(self) -> bool:
        """Always True."""
        return True

    def flush(self) -> None:
        """Writes buffered data to the file."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()

    def _open(self) -> BinaryIO:
        if self._file is None:
            with translate_os_errors(self._name):
                self._file = open(self._name, self._mode.replace("b", "") + "b")  # type: ignore[assignment]  # noqa: SIM115
        assert self._file is not None
        return self._file

    def _readable(self) -> BinaryIO:
        if self._mode in ("w", "wb", "a", "ab"):
            raise errors.PermissionDeniedError(None, None, f"{self._name} was opened for writing: {self._mode!r}.")
        return self._open()

    def _decode(self, data: bytes) -> Any:
        return data if "b" in self._mode else data.decode()
