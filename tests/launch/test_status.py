"""The status file."""

import json
import os
import time

import pytest

from unisono_launch.launch import read_status, write_status


def test_a_record_is_one_line_of_json_of_fixed_size(tmp_path):
    file, before = tmp_path / "status", time.time()
    for step in (10**15, 3):
        write_status(file, "evaluate", step)
    assert file.stat().st_size == 128
    assert file.read_bytes().endswith(b" \n")
    record = json.loads(file.read_bytes())
    assert before <= record.pop("time") <= time.time()
    assert record == {"step": 3, "phase": "evaluate"}


def test_a_loop_can_keep_the_file_open(tmp_path):
    descriptor = os.open(tmp_path / "status", os.O_WRONLY | os.O_CREAT)
    try:
        for step in range(3):
            write_status(descriptor, "fit", step)
    finally:
        os.close(descriptor)
    status = read_status(tmp_path / "status")
    assert status is not None
    assert (status.step, status.phase) == (2, "fit")


def test_the_clock_of_a_file_server_does_not_count(tmp_path):
    write_status(tmp_path / "status", "fit", 1)
    os.utime(tmp_path / "status", (1, 1))
    status = read_status(tmp_path / "status")
    assert status is not None
    assert time.time() - 60 < status.written <= time.time()


@pytest.mark.parametrize(
    "content", [None, b"", b'{"step": 1, "pha', b"[]", b'{"step": "x", "phase": 1}', b"\xff" * 128]
)
def test_what_is_no_record_is_none(tmp_path, content):
    if content is not None:
        (tmp_path / "status").write_bytes(content)
    assert read_status(tmp_path / "status") is None


def test_a_phase_that_does_not_fit_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"A status has 127 bytes at most.*Shorten it"):
        write_status(tmp_path / "status", "x" * 120, 1)
