"""docs/tf-tests.md names tests that exist."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [line for line in (ROOT / "docs" / "tf-tests.md").read_text().splitlines() if line.startswith("|")]
NAMED = re.compile(r"`([\w/]*\.py)?(?:::(\w*)…?(?:\[[^`]*\])?)?`")


def named_tests() -> list[tuple[str, str]]:
    """File and name, or the beginning of a name. `::name` is in the file that was named last in the same row."""
    found = []
    for row in ROWS:
        path = ""
        for file, name in NAMED.findall(row):
            path = file or path
            if path and (file or name):
                found.append((path if "/" in path else f"tests/loops/{path}", name))
    return sorted(set(found))


@functools.cache
def functions_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize(("path", "name"), [pair for pair in named_tests() if pair[0].startswith("tests/")])
def test_a_test_that_the_table_names_is_there(path: str, name: str) -> None:
    assert (ROOT / path).is_file()
    assert not name or any(each.startswith(name) for each in functions_in(path))


def test_the_table_names_a_test_for_most_rows() -> None:
    """So that the pattern above is known to find them."""
    assert len(named_tests()) > 100
