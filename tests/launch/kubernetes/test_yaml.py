"""The YAML of manifests, without a parser: tests/engines/kubernetes compares it with what parsers read."""

import pytest

from unisono_launch.engines.kubernetes._yaml import dump


def test_mappings_and_lists_are_blocks():
    text = dump([{"a": {"b": [{"c": 1, "d": [True]}, "e", []]}}, {"f": {}}])
    assert text == "a:\n  b:\n    - c: 1\n      d:\n        - true\n    - e\n    - []\n---\nf: {}\n"


@pytest.mark.parametrize("word", ["train.py", "--run-dir", "-m", "/runs/mnist", "registry.example.com/trainer:1", "In"])
def test_words_are_plain(word):
    assert dump([{"a": word}]) == f"a: {word}\n"


@pytest.mark.parametrize(
    "word",
    [
        "",
        "1",
        "0.1",
        "yes",
        "No",
        "null",
        "~",
        "1e3",
        "12:30:45",
        "a: b",
        "a #b",
        "- a",
        "*a",
        "{}",
        "a:",
        "-1",
        "--",
        "---",
    ],
)
def test_what_yaml_could_take_for_something_else_is_quoted(word):
    assert dump([{"a": word}]) == f'a: "{word}"\n'


def test_quotes_and_characters_that_yaml_does_not_allow_are_escaped():
    assert dump([{"a": 'x"\\\n\x7f\u2028é😀'}]) == 'a: "x\\"\\\\\\n\\u007f\\u2028é😀"\n'


def test_what_is_no_value_of_a_manifest_is_an_error():
    with pytest.raises(TypeError, match=r"1\.5 is not a value of a manifest"):
        dump([{"a": 1.5}])
