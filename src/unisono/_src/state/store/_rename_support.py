"""Whether a folder can be renamed at a place: on a disk it can, in one step, and on many mounts of a bucket not."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from unisono._src.state.store._errors import is_full
from unisono._src.state.store._staging import staging_folder
from unisono_launch.worker import read_commit_method

# These mount a bucket. A rename of a folder is refused by some of them, by others with many files (gcsfuse), and by
# others it copies file after file and returns success (s3fs, goofys, rclone), which looks like a rename.
_BUCKET_MOUNTS: Final = {
    "blobfuse", "blobfuse2", "cosfs", "gcsfuse", "geesefs", "goofys", "mountpoint-s3", "obsfs", "ossfs", "rclone",
    "riofs", "s3fs", "yas3fs",
}  # fmt: skip
# What the rename of a new folder can fail with for other reasons than that it cannot be done here.
_OTHER_REASONS: Final = (errno.EROFS, errno.ENOMEM, errno.EINTR, errno.ENOENT)

_known: dict[Path, bool] = {}


def can_rename_folders(root: Path) -> bool:
    """Whether folders in `root` can be renamed in one step. It is tried once for each folder, and remembered."""
    method = read_commit_method()
    if method != "auto":
        return method == "rename"
    if root not in _known:
        _known[root] = not _is_bucket_mount(root) and _try_rename(root)
    return _known[root]


def _try_rename(root: Path) -> bool:
    with staging_folder(root) as staged:
        old, new = staged / "probe", staged / "probe-renamed"
        old.mkdir()
        for name in ("a", "b"):
            (old / name).touch()
        try:
            os.rename(old, new)
        except OSError as error:
            if is_full(error) or error.errno in _OTHER_REASONS:
                raise
            return False
        return not os.path.lexists(old) and sorted(os.listdir(new)) == ["a", "b"]


def _is_bucket_mount(folder: Path) -> bool:
    try:
        device = os.stat(folder).st_dev
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:  # not Linux
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in mounts:
        # 36 35 98:0 /root /mount options [more options] - type source options
        place, _, kind = line.partition(" - ")
        if place.split()[2] == number:
            name, source, *_ = kind.split()
            return bool({name.removeprefix("fuse."), source} & _BUCKET_MOUNTS)
    return False
