"""Bytes as lines."""

import hypothesis
import hypothesis.strategies as st
import pytest

from unisono_launch.launch._line_splitter import LineSplitter


@pytest.mark.parametrize(
    ("chunks", "lines", "unfinished"),
    [
        ([b"a\nb\nc"], [b"a", b"b"], b"c"),
        ([b"a", b"b\n"], [b"ab"], b""),
        ([b"a\r", b"\nb"], [b"a"], b"b"),
        ([b"\n\n"], [b"", b""], b""),
        ([b"1%\r", b"2%\r", b"3%"], [], b"3%"),
        ([b"1%\r2%\r"], [], b"2%"),
        ([b"1%\b\b\r2%\n"], [b"2%"], b""),
        ([b"1%\b", b"\b"], [], b"1%"),
    ],
)
def test_lines_end_where_a_terminal_would_end_them(chunks, lines, unfinished):
    cutter = LineSplitter()
    assert [line for chunk in chunks for line in cutter.feed(chunk)] == lines
    assert cutter.unfinished == unfinished


def test_what_was_taken_is_not_shown_again():
    cutter = LineSplitter()
    cutter.feed(b"loading")
    assert cutter.take_unfinished() == b"loading"
    assert cutter.take_unfinished() == b""
    assert cutter.feed(b"\nnext\n") == [b"next"]
    cutter.feed(b"half")
    cutter.take_unfinished()
    assert cutter.feed(b" done\n\n") == [b" done", b""]


def test_a_progress_bar_that_never_ends_takes_no_memory():
    cutter = LineSplitter()
    for step in range(100_000):
        assert cutter.feed(b"\r%d of many" % step) == []
    assert cutter.unfinished == b"99999 of many"
    assert len(cutter._rest) < 100


@hypothesis.given(st.binary(max_size=200), st.lists(st.integers(1, 20), max_size=20))
def test_how_bytes_are_cut_does_not_matter(data, sizes):
    whole, cut = LineSplitter(), LineSplitter()
    expected = whole.feed(data)
    found, rest = [], data
    for size in sizes:
        found += cut.feed(rest[:size])
        rest = rest[size:]
    found += cut.feed(rest)
    assert found == expected
    assert cut.unfinished == whole.unfinished
