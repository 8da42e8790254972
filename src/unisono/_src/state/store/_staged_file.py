"""Writing one file so that half a file never has its name."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from unisono._src.state.store._durable import make_folders, sync_file, sync_folder
from unisono._src.state.store._errors import CheckpointError, explain_os_error, explain_os_errors, is_full
from unisono._src.state.store._staging import clear_stale, staging_folder

# Of mounts of buckets that cannot rename a file. There a file gets its content when it is closed, so a copy will do.
_CANNOT_RENAME = (errno.ENOSYS, errno.ENOTSUP)


@contextlib.contextmanager
def staged_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path of the same file name to write to. At the end of the block the file is renamed to `path`.

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
    with explain_os_errors("written", path):
        make_folders(path.parent)
        clear_stale(path.parent)
    with contextlib.ExitStack() as stack:
        with explain_os_errors("written", path):
            temporary = stack.enter_context(staging_folder(path.parent)) / path.name
        try:
            yield temporary
        except OSError as error:
            if not is_full(error):
                raise
            raise explain_os_error(error, "written", path) from error
        if not temporary.is_file():
            raise CheckpointError(
                f"{os.fspath(path)!r} was not written: the block left no file {os.fspath(temporary)!r}."
            )
        with explain_os_errors("written", path, temporary.stat().st_size):
            _rename_into_place(temporary, path)
            sync_folder(path.parent)


def _rename_into_place(temporary: Path, path: Path) -> None:
    sync_file(temporary)
    try:
        os.replace(temporary, path)
    except OSError as error:
        if error.errno in _CANNOT_RENAME:
            shutil.copyfile(temporary, path)
            sync_file(path)
            return
        if error.errno != errno.EXDEV:
            raise
        with staging_folder(path.parent, inside=True) as staged:
            copy = staged / path.name
            shutil.copy(temporary, copy)
            sync_file(copy)
            os.replace(copy, path)
