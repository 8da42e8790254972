"""The status file."""

import json
import os

import pytest

from unisono_launch.launch import read_status, write_status


def test_a_record_is_one_line_of_json_of_fixed_size(tmp_path):
    file = tmp_path / "status"
    for step in (10**15, 3):
        write_status(file, "evaluate", step)
    assert file.stat().st_size == 128
    assert file.read_bytes().endswith(b" \n")
    assert json.loads(file.read_bytes()) == {"step": 3, "phase": "evaluate"}


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
    assert status.written == (tmp_path / "status").stat().st_mtime


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
