"""Where a checkpoint is: a folder of this machine, or the URL of a folder elsewhere."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from unisono._src.state.store._remote_path import RemotePath

Location = Path | RemotePath

# pathlib and os.path.join with an absolute part turn "gs://bucket" into "gs:/bucket", a folder of this machine.
_LOST_SLASH = re.compile(r"([a-z][a-z0-9+.-]+):/(?!/)")

LOST_SLASH = """{path!r} is not a folder: of the URL {url!r} pathlib has removed a slash. Pass the URL as a string."""

CHAINED = """{url!r} is a chain of file systems, such as a cache before a bucket, and checkpoints need to see what is in
the bucket now. Pass the last URL alone: {last!r}."""


def is_url(path: object) -> bool:
    """Whether this is a string with a scheme, as "gs://bucket/runs", and not a folder of this machine.

    >>> is_url("gs://bucket/runs"), is_url("runs/mnist"), is_url("file:///runs")
    (True, False, True)
    """
    return isinstance(path, str) and "://" in path


def to_location(path: str | os.PathLike[str] | RemotePath) -> Location:
    """The absolute place of `path`. A file URL is a folder of this machine; every other URL needs fsspec.

    >>> to_location("file:///runs/mnist")
    PosixPath('/runs/mnist')
    """
    if isinstance(path, RemotePath):
        return path
    text = os.fspath(path)
    if not is_url(text):
        if lost := _LOST_SLASH.match(text):
            raise ValueError(LOST_SLASH.format(path=text, url=f"{lost[1]}://{text[lost.end() :]}"))
        return Path(os.path.abspath(text))
    if "::" in text:
        raise ValueError(CHAINED.format(url=text, last=text.rpartition("::")[2]))
    if text.startswith(("file://", "local://")):
        parts = urlsplit(text)
        return Path(os.path.abspath(parts.netloc + unquote(parts.path)))
    remote = RemotePath(text)
    remote.connect()
    return remote
