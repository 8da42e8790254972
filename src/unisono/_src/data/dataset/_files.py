"""Datasets of files that are read from beginning to end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from unisono._src.data.dataset._dataset import Dataset
from unisono._src.data.plans import FileSource, FixedLengthRecords, Plan, ReadFiles, TextLines, TFRecords, file_names


class _FilesDataset(Dataset):
    """tf.data's arguments. Those about buffers and parallel reads are accepted and change nothing."""

    _source: ClassVar[type[FileSource]]

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(_plan_files(filenames, partial(self._source, compression=compression_type or None)))


class TextLineDataset(_FilesDataset):
    """The lines of text files, as byte strings without line ends.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "words.txt"
    >>> _ = path.write_text("one\\ntwo\\n")
    >>> [line.item() for line in TextLineDataset(path)]
    [b'one', b'two']
    """

    _source = TextLines


class TFRecordDataset(_FilesDataset):
    """The records of TFRecord files, as byte strings. Checksums are checked.

    >>> import tempfile, pathlib
    >>> from unisono.io import TFRecordWriter
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.tfrecord"
    >>> with TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    ...     writer.write(b"two")
    >>> [record.item() for record in TFRecordDataset(path)]
    [b'one', b'two']
    """

    _source = TFRecords


class FixedLengthRecordDataset(Dataset):
    """The records of files in which all are equally long, as byte strings.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pairs"
    >>> _ = path.write_bytes(b"aabb")
    >>> [record.item() for record in FixedLengthRecordDataset(path, 2)]
    [b'aa', b'bb']
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        buffer_size: int | None = None,
        compression_type: str | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        make_source = partial(
            FixedLengthRecords,
            compression=compression_type or None,
            record_bytes=int(record_bytes),
            header_bytes=int(header_bytes or 0),
            footer_bytes=int(footer_bytes or 0),
        )
        super().__init__(_plan_files(filenames, make_source))


def _plan_files(filenames: Any, make_source: Callable[[tuple[str, ...]], FileSource]) -> Plan:
    """Reads these files; those of a dataset of names in its order, which may differ from pass to pass."""
    if not isinstance(filenames, Dataset):
        return Plan(make_source(tuple(file_names(filenames))))

    def read(names: Any) -> Dataset:
        return Dataset(Plan(make_source(tuple(file_names(names)))))

    return filenames._plan.then(ReadFiles(read, call=make_source(()).call))
