"""`tf.strings.ngrams`."""

from typing import Any

import pytest

import unisono.tf as tf

ROWS = [["a"], ["b", "c", "d"], ["e", "f"], []]


def joined(*args: Any, **kwargs: Any) -> list[list[str]]:
    rows = tf.strings.ngrams(tf.ragged.constant(ROWS), *args, separator="|", **kwargs).to_list()
    return [[each.decode() for each in row] for row in rows]


def test_neighbours_of_a_row_are_joined() -> None:
    assert joined(2) == [[], ["b|c", "c|d"], ["e|f"], []]
    assert joined((3, 1)) == [["a"], ["b|c|d", "b", "c", "d"], ["e", "f"], []]
    nested = tf.ragged.constant([[["a", "b"], ["c"]], [["d", "e", "f"]]])
    assert tf.strings.ngrams(nested, 2).to_list() == [[[b"a b"], []], [[b"d e", b"e f"]]]


def test_rows_are_padded_at_both_ends() -> None:
    full = [
        ["L|L|a", "L|a|R", "a|R|R"],
        ["L|L|b", "L|b|c", "b|c|d", "c|d|R", "d|R|R"],
        ["L|L|e", "L|e|f", "e|f|R", "f|R|R"],
        ["L|L|R", "L|R|R"],
    ]
    assert joined(3, pad_values=("L", "R")) == full
    assert joined(3, pad_values=("L", "R"), padding_width=10) == full
    assert joined(5, pad_values="P", padding_width=1) == [[], ["P|b|c|d|P"], [], []]
    assert joined((1, 5), pad_values="P", padding_width=1) == [["a"], ["b", "c", "d", "P|b|c|d|P"], ["e", "f"], []]


def test_short_rows_are_kept_if_asked_for() -> None:
    assert joined(3, preserve_short_sequences=True) == [["a"], ["b|c|d"], ["e|f"], []]
    kept = joined(5, pad_values=("L", "R"), padding_width=1, preserve_short_sequences=True)
    assert kept == [["L|a|R"], ["L|b|c|d|R"], ["L|e|f|R"], []]


def test_dense_rows_give_dense_ngrams() -> None:
    assert tf.strings.ngrams(["a", "b", "c"], 2).numpy().tolist() == [b"a b", b"b c"]
    matrix = tf.strings.ngrams(tf.constant([["a", "b", "c"], ["d", "e", "f"]]), [1, 3], "")
    assert matrix.numpy().tolist() == [[b"a", b"b", b"c", b"abc"], [b"d", b"e", b"f", b"def"]]
    assert tf.strings.ngrams(["a"], 2).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"data": "ab", "ngram_width": 2}, ValueError, "one string"),
        ({"data": ["a"], "ngram_width": [1, -1]}, ValueError, "above 0"),
        ({"data": ["a"], "ngram_width": 2, "pad_values": [5, 3]}, TypeError, "one for each end"),
        ({"data": ["a"], "ngram_width": 2, "padding_width": 1}, ValueError, "needs pad_values"),
        ({"data": ["a"], "ngram_width": 2, "padding_width": 0, "pad_values": "P"}, ValueError, "above 0"),
    ],
)
def test_wrong_arguments_are_named(arguments: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        tf.strings.ngrams(**arguments)


def test_rows_without_strings_have_no_ngrams() -> None:
    assert tf.strings.ngrams(tf.constant([], tf.string), 2).shape == (0,)
    assert tf.strings.ngrams(tf.constant([[], []], tf.string), 2).shape == (2, 0)
    lines = tf.data.Dataset.from_tensor_slices(["a b c", ""])
    found = lines.map(lambda line: tf.strings.ngrams(tf.strings.split(line), 2))
    assert [each.numpy().tolist() for each in found] == [[b"a b", b"b c"], []]
