"""The file that makes a folder a checkpoint: it lists the content, with checksums of all files, itself included."""

from __future__ import annotations

import errno
import hashlib
import math
import os
import re
import stat
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from unisono._src.state.store._errors import BadCheckpoint
from unisono._src.state.store._json import JSON, dumps, loads
from unisono._src.state.store._location import Location
from unisono._src.state.store._pieces import Piece, covers_once, part_file
from unisono._src.state.store._remote_path import RemotePath
from unisono_launch._install_command import upgrade_command

MANIFEST = "manifest.json"
ARRAYS = "arrays.safetensors"
STATE = "state.json"

_FORMAT = "unisono-checkpoint"
_WHOLE = 1  # the version of a checkpoint that one process wrote
_IN_PARTS = 2  # and of one that several processes wrote
_IN_DATA_FOLDER = 3  # and of either where its manifest is what makes it exist: the other files are in a folder below
_NEWEST = _IN_DATA_FOLDER
_MAX_BYTES = 1 << 30  # of a manifest: enough for millions of arrays
_SHA256 = re.compile(r"[0-9a-f]{64}")
_DATA_NAME = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class FileEntry:
    """One file of a checkpoint, as it must be."""

    bytes: int
    sha256: str

    def __post_init__(self) -> None:
        _expect(_is_count(self.bytes) and isinstance(self.sha256, str) and _SHA256.fullmatch(self.sha256), "a file")


@dataclass(frozen=True)
class ArrayEntry:
    """One array of a checkpoint, as it must be.

    Attributes:
        pieces: None if the array is whole in the one file of arrays. Else, for each piece, the number of the part that
            has it, then its start and stop in each dimension.
    """

    shape: list[int]
    dtype: str
    pieces: list[list[int]] | None = None

    def __post_init__(self) -> None:
        _expect(isinstance(self.shape, list) and all(map(_is_count, self.shape)), "a shape")
        _expect(isinstance(self.dtype, str), "a dtype")
        if self.pieces is not None:
            right = isinstance(self.pieces, list) and all(map(self._is_piece, self.pieces))
            _expect(right and covers_once(self.shape, [piece.index for piece in self.located()]), "a list of pieces")

    def located(self) -> list[Piece]:
        """The pieces, with their places."""
        return [Piece(part, tuple(zip(ends[::2], ends[1::2], strict=True))) for part, *ends in self.pieces or []]

    def _is_piece(self, piece: object) -> bool:
        return isinstance(piece, list) and len(piece) == 1 + 2 * len(self.shape) and all(map(_is_count, piece))


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The content of a checkpoint. It checks itself: a ValueError says what is wrong.

    Attributes:
        data: the folder of the other files, in that of the manifest; empty if they are beside the manifest.
    """

    step: int
    written: float
    info: dict[str, str]
    files: dict[str, FileEntry] = field(default_factory=dict)
    arrays: dict[str, ArrayEntry] = field(default_factory=dict)
    data: str = ""

    def __post_init__(self) -> None:
        _expect(_is_count(self.step), "the step")
        _expect(self.data == "" or is_data_name(self.data), "the name of the folder")
        _expect(type(self.written) in (int, float) and math.isfinite(self.written), "the time")
        _expect(all(isinstance(text, str) for item in self.info.items() for text in item), "info")
        # These and no other: a name in a manifest never becomes a path.
        _expect(self.files.keys() == {STATE, *self.array_files}, "the list of files")
        for entry in self.arrays.values():
            _expect((entry.pieces is None) == self.is_single_file, "a list of pieces")
            _expect(all(piece[0] < len(self.array_files) for piece in entry.pieces or []), "the part of a piece")

    @property
    def version(self) -> int:
        """The version of the format."""
        if self.data:
            return _IN_DATA_FOLDER
        return _WHOLE if self.is_single_file else _IN_PARTS

    @property
    def is_single_file(self) -> bool:
        """Whether one process wrote it, so that there is one file of arrays."""
        return ARRAYS in self.files

    @property
    def array_files(self) -> list[str]:
        """The files of arrays, by the number of the part."""
        if self.is_single_file:
            return [ARRAYS]
        num_parts = len(self.files) - 1
        return [part_file(part, num_parts) for part in range(num_parts)]

    def path_of(self, name: str) -> str:
        """The path of a file in the folder of the manifest."""
        return f"{self.data}/{name}" if self.data else name

    def to_bytes(self) -> bytes:
        """The file."""
        body = asdict(self)
        if self.is_single_file:
            for entry in body["arrays"].values():
                del entry["pieces"]
        if not self.data:
            del body["data"]
        return dumps({"format": _FORMAT, "version": self.version, "body": body, "sha256": _checksum(body)})

    def has_same_content(self, other: Manifest) -> bool:
        """Whether nothing but the time differs, and the folder of the files."""
        return replace(self, written=0, data="") == replace(other, written=0, data="")


def read_manifest(folder: Location) -> Manifest:
    """The manifest of a folder; BadCheckpoint if there is none, or a damaged one."""
    content = _content(folder)
    if content.get("format") != _FORMAT:
        raise BadCheckpoint(
            folder,
            f"{MANIFEST} is not the manifest of a Unisono checkpoint: its format is {_short(content.get('format'))}.",
        )
    version, body = content.get("version"), content.get("body")
    if type(version) is not int or version < 1:
        raise BadCheckpoint(folder, f"{MANIFEST} is damaged: its version is {_short(version)}.")
    if version > _NEWEST:
        raise BadCheckpoint(
            folder,
            f"it was written by a newer Unisono, in version {version} of the format; this one reads {_NEWEST}. "
            f"Upgrade: {upgrade_command()}",
        )
    if content.keys() != {"format", "version", "body", "sha256"} or not isinstance(body, dict):
        raise BadCheckpoint(folder, f"{MANIFEST} is damaged: its parts are not those of version {version}.")
    if _checksum(body) != content["sha256"]:
        raise BadCheckpoint(folder, f"{MANIFEST} is damaged: it does not have its checksum.")
    try:
        manifest = _from_body(body)
        _expect(manifest.version == version, "the version")
    except (TypeError, ValueError) as error:
        raise BadCheckpoint(folder, f"{MANIFEST} is not as Unisono writes it: {error}.") from error
    return manifest


def has_unisono_manifest(folder: Location) -> bool:
    """Whether this is a real folder with a manifest of Unisono, of any version; the rest may be damaged."""
    try:
        return not (isinstance(folder, Path) and folder.is_symlink()) and _content(folder).get("format") == _FORMAT
    except BadCheckpoint:
        return False


def open_file(folder: Path, name: str) -> int:
    """A descriptor of a plain file in the folder. A link, a pipe or a folder in its place: BadCheckpoint."""
    try:
        # Without O_NONBLOCK opening a pipe without a writer would block.
        fd = os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise BadCheckpoint(folder, _missing(folder, name)) from None
    except OSError as error:
        reason = "it is a link, where a file is expected" if error.errno == errno.ELOOP else error.strerror
        raise BadCheckpoint(folder, f"{name} cannot be opened: {reason}.") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise BadCheckpoint(folder, f"{name} is not a plain file.")
    return fd


def read_all(folder: Location, name: str, most_bytes: int | None = None) -> bytes:
    """All of a file that fits into memory."""
    if isinstance(folder, RemotePath):
        return _read_all_remote(folder, name, most_bytes)
    with open(open_file(folder, name), "rb") as file:
        try:
            size = os.fstat(file.fileno()).st_size
            _check_size(folder, name, size, most_bytes)
            return file.read()
        except OSError as error:
            raise BadCheckpoint(folder, f"{name} cannot be read: {error.strerror}.") from error


def _read_all_remote(folder: RemotePath, name: str, most_bytes: int | None) -> bytes:
    size = (folder / name).size()
    if size is None:
        raise BadCheckpoint(folder, _missing(folder, name))
    _check_size(folder, name, size, most_bytes)
    try:
        return (folder / name).read()
    except FileNotFoundError:  # deleted meanwhile
        raise BadCheckpoint(folder, _missing(folder, name)) from None


def _check_size(folder: Location, name: str, size: int, most_bytes: int | None) -> None:
    if most_bytes is not None and size > most_bytes:
        raise BadCheckpoint(folder, f"{name} has {size:,} bytes, more than Unisono ever writes.")


def is_data_name(name: object) -> bool:
    """Whether this can be the name of the folder of the files: it never becomes another path."""
    return isinstance(name, str) and _DATA_NAME.fullmatch(name) is not None


def _content(folder: Location) -> dict[str, Any]:
    data = read_all(folder, MANIFEST, _MAX_BYTES)
    try:
        content = loads(data)
    except ValueError as error:
        raise BadCheckpoint(folder, f"{MANIFEST} is damaged: {error}.") from error
    if not isinstance(content, dict):
        raise BadCheckpoint(folder, f"{MANIFEST} is damaged: it holds a {type(content).__name__}, not an object.")
    return content


def _from_body(body: dict[str, JSON]) -> Manifest:
    _expect(all(isinstance(body.get(name), dict) for name in ("info", "files", "arrays")), "the list of its parts")
    return Manifest(
        **{
            **body,
            "files": {name: FileEntry(**entry) for name, entry in body["files"].items()},
            "arrays": {name: ArrayEntry(**entry) for name, entry in body["arrays"].items()},
        }
    )


def _checksum(body: JSON) -> str:
    return hashlib.sha256(dumps(body)).hexdigest()


def _missing(folder: Location, name: str) -> str:
    if isinstance(folder, Path) and not os.path.isdir(folder):
        return "there is no such folder."
    return f"it has no {name}, so it was never completed." if name == MANIFEST else f"{name} is missing."


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _short(value: JSON) -> str:
    return repr(value)[:60]


def _expect(right: object, what: str) -> None:
    if not right:
        raise ValueError(f"{what} is not valid")
