"""The last traceback in what a worker wrote."""

import subprocess
import sys

import pytest

from unisono_launch.launch._traceback import last_lines, last_traceback


def errors_of(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30).stderr


def test_exceptions_that_led_to_it_belong_to_it():
    found = last_traceback(
        "before\n"
        + errors_of(
            "try:\n    try:\n        1 / 0\n    except ZeroDivisionError:\n        raise KeyError('a')\n"
            "except KeyError as error:\n    raise ValueError('b') from error"
        )
    )
    assert found is not None
    assert found.startswith("Traceback")
    assert [name in found for name in ("ZeroDivisionError", "KeyError: 'a'", "ValueError: b")] == [True] * 3


def test_an_earlier_exception_that_was_only_printed_does_not():
    found = last_traceback(
        errors_of("import traceback\ntry:\n    1 / 0\nexcept Exception: traceback.print_exc()\nraise ValueError('b')")
    )
    assert found is not None
    assert "ZeroDivisionError" not in found
    assert found.endswith("ValueError: b")


def test_exceptions_that_python_ignored_at_exit_are_not_the_one():
    found = last_traceback(
        errors_of(
            "import atexit\ndef bad(): raise KeyError('late')\natexit.register(bad)\n"
            "class A:\n    def __del__(self): raise OSError('later')\na = A()\nraise ValueError('b')"
        )
    )
    assert found is not None
    assert found.endswith("ValueError: b")


def test_groups_are_found():
    found = last_traceback(errors_of("raise ExceptionGroup('many', [ValueError('b'), KeyError('c')])"))
    assert found is not None
    assert "ValueError: b" in found
    assert "KeyError: 'c'" in found


def test_log_lines_after_it_are_left_out():
    found = last_traceback(
        "Traceback (most recent call last):\n  File ...\nValueError: two\nlines\n"
        "E1115 10:10:05.056970   23598 coordination_service_agent.cc:289] Polled an error\n*** Check failure\n"
    )
    assert found == "Traceback (most recent call last):\n  File ...\nValueError: two\nlines"


def test_long_ones_are_cut_at_the_front():
    lines = "\n".join(f"  line {i}" for i in range(500))
    found = last_traceback(f"Traceback (most recent call last):\n{lines}\nValueError: b\n")
    assert found is not None
    assert found.startswith("… 422 lines\n")
    assert found.endswith("ValueError: b")
    assert len(found.splitlines()) == 81


@pytest.mark.parametrize("errors", ["", "Segmentation fault\n", "Exception ignored in: x\nTraceback (most recent"])
def test_there_may_be_none(errors):
    assert last_traceback(errors) is None


def test_last_lines_have_something_on_them():
    assert last_lines("a\n\nb\n \nc\n", count=2) == "b\nc"
