"""Files of records that are all equally long."""

import gzip
import zlib
from pathlib import Path

import pytest

from unisono.io import FixedLengthFile


@pytest.mark.parametrize(("compression", "packed"), [(None, bytes), ("GZIP", gzip.compress), ("ZLIB", zlib.compress)])
def test_records_are_read_from_any_place(tmp_path: Path, compression: str | None, packed: type) -> None:
    path = tmp_path / "records"
    path.write_bytes(packed(b"HHaabbccF"))
    file = FixedLengthFile(path, 2, header_bytes=2, footer_bytes=1, compression=compression)
    records = list(file.read())
    assert records == [(b"aa", 2), (b"bb", 4), (b"cc", 6)]
    for number, (_, offset) in enumerate(records, start=1):
        assert list(file.read(offset)) == records[number:]


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "records"
    path.write_bytes(b"aab")
    with pytest.raises(ValueError, match=r"has 3 bytes.*no whole number of records of 2"):
        list(FixedLengthFile(path, 2).read())
    with pytest.raises(ValueError, match="cannot be read as a GZIP file"):
        list(FixedLengthFile(path, 1, compression="GZIP").read())
    with pytest.raises(ValueError, match="plain"):
        FixedLengthFile(path, 1, compression="LZ4")
    with pytest.raises(ValueError, match="at least 1"):
        FixedLengthFile(path, 0)
