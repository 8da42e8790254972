import gzip
import json
import os
import zlib
from pathlib import Path

import google_crc32c
import pytest

from unisono.io import RecordError, RecordFile, TFRecordOptions, TFRecordWriter

RECORDED = Path(__file__).parent / "recorded"
ANSWERS = json.loads((RECORDED / "answers.json").read_text())
PAYLOADS = [bytes.fromhex(payload) for payload in ANSWERS["payloads"]]

COMPRESSIONS = pytest.mark.parametrize("compression", [None, "", "GZIP", "ZLIB"])


def written(path: Path, payloads: list[bytes], compression: str | None = None) -> Path:
    with TFRecordWriter(path, compression) as writer:
        for payload in payloads:
            writer.write(payload)
    return path


def payloads_of(path: Path, compression: str | None = None, offset: int = 0) -> list[bytes]:
    return [payload for payload, _ in RecordFile(path, compression).read(offset)]


def test_checksums_are_made_by_the_c_extension():
    assert google_crc32c.implementation == "c"


@pytest.mark.parametrize(
    ("name", "compression"),
    [("payloads.tfrecord", None), ("payloads.tfrecord.gz", "GZIP"), ("payloads.tfrecord.zz", "ZLIB")],
)
def test_files_of_tensorflow_are_read(name, compression):
    assert payloads_of(RECORDED / name, compression) == PAYLOADS


@pytest.mark.parametrize(("name", "compression"), [("nothing.tfrecord", None), ("nothing.tfrecord.gz", "GZIP")])
def test_a_file_of_no_records_gives_none(name, compression):
    assert payloads_of(RECORDED / name, compression) == []


def test_a_plain_file_is_byte_for_byte_the_one_of_tensorflow(tmp_path):
    path = written(tmp_path / "a", PAYLOADS)
    assert path.read_bytes() == (RECORDED / "payloads.tfrecord").read_bytes()


@COMPRESSIONS
def test_what_was_written_is_read(tmp_path, compression):
    assert payloads_of(written(tmp_path / "a", PAYLOADS, compression), compression) == PAYLOADS


@COMPRESSIONS
def test_records_larger_than_a_chunk_are_read(tmp_path, compression):
    payloads = [os.urandom(3 << 20), b"small", bytes(5 << 20), os.urandom((1 << 20) - 16), b"end"]
    assert payloads_of(written(tmp_path / "a", payloads, compression), compression) == payloads


@COMPRESSIONS
def test_reading_resumes_at_the_offset_of_every_record(tmp_path, compression):
    path = written(tmp_path / "a", PAYLOADS, compression)
    offsets = [0] + [offset for _, offset in RecordFile(path, compression).read()]
    for number, offset in enumerate(offsets):
        assert payloads_of(path, compression, offset) == PAYLOADS[number:]


@COMPRESSIONS
def test_an_offset_past_the_end_is_an_error(tmp_path, compression):
    path = written(tmp_path / "a", [b"x"], compression)
    with pytest.raises(RecordError, match="at byte 18: the file has only 17 bytes"):
        payloads_of(path, compression, 18)


def test_an_offset_inside_a_record_is_an_error(tmp_path):
    path = written(tmp_path / "a", [b"x" * 50])
    with pytest.raises(RecordError, match=r"at byte 3: no record begins here.*not 3; start again with offset 0"):
        payloads_of(path, offset=3)


def test_a_negative_offset_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="offset is -1"):
        RecordFile(tmp_path / "a").read(-1)


def test_members_of_a_gzip_file_are_read_as_one(tmp_path):
    halves = [written(tmp_path / name, [name.encode()] * 3, "GZIP").read_bytes() for name in "ab"]
    (tmp_path / "both").write_bytes(b"".join(halves))
    assert payloads_of(tmp_path / "both", "GZIP") == [b"a"] * 3 + [b"b"] * 3


def test_closing_the_iterator_closes_the_file(tmp_path):
    records = RecordFile(written(tmp_path / "a", PAYLOADS)).read()
    next(records)
    open_before = len(os.listdir("/proc/self/fd"))
    records.close()
    assert len(os.listdir("/proc/self/fd")) == open_before - 1


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no record file '.*nowhere'. Check the name, and the working dir"):
        payloads_of(tmp_path / "nowhere")


def test_a_file_of_another_machine_is_named():
    with pytest.raises(FileNotFoundError, match="Only files of this machine are read"):
        list(RecordFile("gs://bucket/x").read())


def test_an_unknown_compression_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"compression is 'gzip'. Expected None, '', 'GZIP' or 'ZLIB'"):
        RecordFile("a", "gzip")
    with pytest.raises(ValueError, match="TFRecordOptions: compression is 'LZ4'"):
        TFRecordOptions(compression_type="LZ4")


@pytest.mark.parametrize(
    ("actual", "said", "remedy"),
    [
        ("GZIP", None, "Write compression='GZIP'"),
        ("ZLIB", None, "Write compression='ZLIB'"),
        (None, "GZIP", "Leave compression out"),
        (None, "ZLIB", "Leave compression out"),
        ("GZIP", "ZLIB", "Write 'GZIP'"),
        ("ZLIB", "GZIP", "Write 'ZLIB'"),
    ],
)
def test_the_wrong_compression_is_recognised(tmp_path, actual, said, remedy):
    path = written(tmp_path / "a", PAYLOADS, actual)
    with pytest.raises(RecordError, match=remedy):
        payloads_of(path, said)


def test_a_file_of_something_else_is_recognised(tmp_path):
    (tmp_path / "a").write_text("label,pixels\n" * 10)
    with pytest.raises(RecordError, match=r"record 0 at byte 0: .* Is this a TFRecord file\?$"):
        payloads_of(tmp_path / "a")


def test_damage_names_file_record_and_byte(tmp_path):
    path = written(tmp_path / "broken", [b"x" * 10] * 3)
    data = bytearray(path.read_bytes())
    data[26 + 15] ^= 1
    path.write_bytes(data)
    with pytest.raises(RecordError, match=r"broken': record 1 at byte 26: its 10 bytes do not match their checksum"):
        payloads_of(path)
    data[26 + 15] ^= 1
    data[52 + 1] ^= 1
    path.write_bytes(data)
    with pytest.raises(RecordError, match=r"broken': record 2 at byte 52: its length does not match its checksum"):
        payloads_of(path)
    path.write_bytes(data[:50])
    with pytest.raises(RecordError, match=r"record 1 at byte 26: the file ends after 24 of its 26 bytes. Was the wr"):
        payloads_of(path)


def outcome(path: Path, compression: str | None) -> tuple[list[bytes], bool]:
    """What was read, and whether reading ended in a RecordError. Another exception fails the test."""
    read = []
    try:
        for payload, _ in RecordFile(path, compression).read():
            read.append(payload)
    except RecordError:
        return read, True
    return read, False


SMALL = [b"first", b"", b"\x80\0\xff", b"first", bytes(range(40))]


@COMPRESSIONS
def test_a_file_cut_anywhere_gives_its_first_records_and_an_error(tmp_path, compression):
    data = written(tmp_path / "a", SMALL, compression).read_bytes()
    whole = {0} | {offset for _, offset in RecordFile(tmp_path / "a").read()} if not compression else {0}
    for size in range(len(data)):
        (tmp_path / "cut").write_bytes(data[:size])
        read, refused = outcome(tmp_path / "cut", compression)
        assert read == SMALL[: len(read)]
        assert refused or size in whole, size


@COMPRESSIONS
def test_a_file_with_any_byte_changed_gives_right_records_or_an_error(tmp_path, compression):
    data = written(tmp_path / "a", SMALL, compression).read_bytes()
    for position in range(len(data)):
        for change in (1, 0x80, 0xFF):
            changed = bytearray(data)
            changed[position] ^= change
            (tmp_path / "changed").write_bytes(changed)
            read, refused = outcome(tmp_path / "changed", compression)
            assert read == SMALL[: len(read)]
            assert refused or read == SMALL, (position, change)


def test_a_writer_flushes_what_others_shall_read(tmp_path):
    for compression in (None, "GZIP"):
        with TFRecordWriter(tmp_path / "a", compression) as writer:
            writer.write(b"early")
            writer.flush()
            assert next(RecordFile(tmp_path / "a", compression).read())[0] == b"early"


def test_options_are_an_object_or_a_string(tmp_path):
    for options in (TFRecordOptions("ZLIB"), TFRecordOptions(compression_type="ZLIB"), "ZLIB"):
        with TFRecordWriter(str(tmp_path / "a"), options) as writer:
            writer.write(bytearray(b"x"))
        assert payloads_of(tmp_path / "a", "ZLIB") == [b"x"]
        assert zlib.decompress((tmp_path / "a").read_bytes())[12:13] == b"x"


def test_compressed_files_are_those_of_the_standard_library_and_always_the_same(tmp_path):
    first = written(tmp_path / "a", PAYLOADS, "GZIP").read_bytes()
    assert gzip.decompress(first) == (RECORDED / "payloads.tfrecord").read_bytes()
    assert written(tmp_path / "b", PAYLOADS, "GZIP").read_bytes() == first


def test_a_closed_writer_says_so(tmp_path):
    writer = TFRecordWriter(tmp_path / "a")
    writer.close()
    writer.close()
    with pytest.raises(ValueError, match="is closed"):
        writer.write(b"x")


def test_a_writer_wants_bytes(tmp_path):
    class Message:
        def SerializeToString(self) -> bytes:  # noqa: N802
            return b""

    with TFRecordWriter(tmp_path / "a") as writer:
        for wrong, remedy in (
            ("text", r"text\.encode\(\)"),
            (Message(), "SerializeToString"),
            ({"x": 1}, "encode_example"),
        ):
            with pytest.raises(TypeError, match=remedy):
                writer.write(wrong)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"os\.makedirs\('.*nowhere', exist_ok=True\)"):
        TFRecordWriter(tmp_path / "nowhere" / "a")
