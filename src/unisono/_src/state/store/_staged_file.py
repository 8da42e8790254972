"""Writing one file so that its name is never that of half a file."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from unisono._src.state.store._durable import make_folders, sync_file, sync_folder
from unisono._src.state.store._errors import CheckpointError, explained, explanation, is_full
from unisono._src.state.store._staging import clear_stale, staging


@contextlib.contextmanager
def staged_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path of the same file name, elsewhere, to write to. At the end of the block the file gets its real place.

    If the block raises, what was written is deleted, and a file that was there before is still what it was.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "export" / "model.keras"
    >>> with staged_file(path) as temporary:
    ...     _ = temporary.write_text("a model")
    ...     path.exists()
    False
    >>> path.read_text()
    'a model'
    """
    path = Path(os.path.abspath(path))
    with explained("written", path):
        make_folders(path.parent)
        clear_stale(path.parent)
    with contextlib.ExitStack() as stack:
        with explained("written", path):
            temporary = stack.enter_context(staging(path.parent)) / path.name
        try:
            yield temporary
        except OSError as error:
            if not is_full(error):
                raise
            raise explanation(error, "written", path) from error
        if not temporary.is_file():
            raise CheckpointError(
                f"{os.fspath(path)!r} was not written: the block left no file {os.fspath(temporary)!r}."
            )
        with explained("written", path, temporary.stat().st_size):
            _give_name(temporary, path)
            sync_folder(path.parent)


def _give_name(temporary: Path, path: Path) -> None:
    sync_file(temporary)
    try:
        os.replace(temporary, path)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with staging(path.parent, inside=True) as place:
            copy = place / path.name
            shutil.copy(temporary, copy)
            sync_file(copy)
            os.replace(copy, path)
