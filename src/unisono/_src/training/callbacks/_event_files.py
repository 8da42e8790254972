"""The event files of one training in one folder, over all its restarts.

A training that was killed has written events after its last checkpoint, and writes them again when it resumes. So a
checkpoint stores how long each file was, and resuming truncates what came later: the folder then has every step once. A
TensorBoard that was open all the time has read it already. Its fast loader drops repeated steps by itself, curve by
curve. For its loader in Python the next file begins with the step from which to drop, which holds for all curves of a
run: the step is one that no curve had reached.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
import weakref
from pathlib import Path
from typing import Any, Final

from unisono._src.data.files import TFRecordWriter, encode_event, encode_restart_event, encode_version_event

# What TensorBoard recognises as event files. It reads them in the order of their names, so the number must grow.
_NAME: Final = re.compile(r"events\.out\.tfevents\.(\d+)\..*")
_MARK: Final = re.compile(r"[0-9a-f]{8}")

NOT_WRITTEN_HERE = """The checkpoint has {found!r:.200} as {name!r} of the callback TensorBoard, which has {expected}
there. Nothing was restored. TensorBoard did not write this: use a checkpoint of your own, or begin
again in another folder."""


class EventFiles:
    """Writes events into a file that is made with the first of them.

    Args:
        folder: one of TensorBoard's runs.
        mark: the end of the file names; the same for all files of one training.
    """

    def __init__(self, folder: Path, mark: str):
        self._folder, self._mark = folder, mark
        self._earlier: dict[str, int] = {}
        self._path: Path | None = None
        self._writer: TFRecordWriter | None = None
        self._last_step: int | None = None
        self._forget_from: int | None = None

    def add(self, summary: Any, step: int) -> None:
        """Writes one event; it is readable by TensorBoard when this returns."""
        try:
            writer = self._writer or self._open()
            writer.write(encode_event(summary, step, time.time()))
            writer.flush()
        except OSError as error:
            raise OSError(
                error.errno,
                f"TensorBoard's events cannot be written to {os.fspath(self._folder)!r}: {error.strerror}. "
                "Make room there, or give the callback another log_dir",
            ) from error
        self._last_step = step if self._last_step is None else max(step, self._last_step)

    def forget_from(self, step: int) -> None:
        """Makes the next file declare earlier events of this step and later ones void."""
        self._forget_from = step

    def get_state(self) -> dict[str, Any]:
        """The sizes of the files, for a checkpoint."""
        return {"mark": self._mark, "files": self._sizes(), "last_step": self._last_step}

    def set_state(self, state: dict[str, Any]) -> None:
        """Resumes from there. Events that were written later are deleted."""
        check_event_state(state)
        self.close()
        self._mark, self._last_step = state["mark"], state["last_step"]
        self._earlier = dict(state["files"])
        if self._last_step is not None:
            self.forget_from(self._last_step + 1)
        for path in self._folder.glob(f"events.out.tfevents.*.{self._mark}"):
            if path.name not in self._earlier:
                path.unlink()
            elif path.stat().st_size > self._earlier[path.name]:
                os.truncate(path, self._earlier[path.name])

    def close(self) -> None:
        """Ends the file; the next event makes another one."""
        if self._writer is not None:
            self._writer.close()
        self._earlier = self._sizes()
        self._writer = self._path = None

    def _sizes(self) -> dict[str, int]:
        sizes = dict(self._earlier)
        if self._path is not None and self._path.exists():  # the user may have deleted it
            sizes[self._path.name] = self._path.stat().st_size
        return sizes

    def _open(self) -> TFRecordWriter:
        self._folder.mkdir(parents=True, exist_ok=True)
        found = [_NAME.fullmatch(path.name) for path in self._folder.iterdir()]
        newest = max((int(name[1]) for name in found if name), default=0)
        number = max(int(time.time()), newest + 1)  # clocks of two machines may differ
        self._path = self._folder / f"events.out.tfevents.{number}.{socket.gethostname()}.{os.getpid()}.{self._mark}"
        self._writer = TFRecordWriter(self._path)
        weakref.finalize(self, self._writer.close)  # there is no other close if training ends by an exception
        self._writer.write(encode_version_event(time.time()))
        if self._forget_from is not None:
            for _ in range(2):  # TensorBoard takes the first in a run for its beginning, and drops nothing
                self._writer.write(encode_restart_event(self._forget_from, time.time()))
            self._forget_from = None
        return self._writer


def check_event_state(state: Any) -> None:
    """Raises a ValueError for what :meth:`EventFiles.get_state` cannot have returned.

    The mark becomes part of a pattern of files to delete, so it must not be anything but a mark.
    """
    checked = state if isinstance(state, dict) else {}
    mark, files, last_step = (checked.get(name) for name in ("mark", "files", "last_step"))
    if not isinstance(mark, str) or not _MARK.fullmatch(mark):
        raise ValueError(NOT_WRITTEN_HERE.format(found=mark, name="mark", expected="eight hexadecimal digits"))
    if last_step is not None and type(last_step) is not int:
        raise ValueError(NOT_WRITTEN_HERE.format(found=last_step, name="last_step", expected="a step"))
    if not isinstance(files, dict):
        raise ValueError(NOT_WRITTEN_HERE.format(found=files, name="files", expected="sizes of event files"))
    for name, size in files.items():
        if not _NAME.fullmatch(name) or "/" in name or type(size) is not int or size < 0:
            raise ValueError(NOT_WRITTEN_HERE.format(found={name: size}, name="files", expected="sizes of event files"))


def new_mark() -> str:
    """A mark that no other training has."""
    return secrets.token_hex(4)
