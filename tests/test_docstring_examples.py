"""The examples in docstrings, run as printed: doctests, and fenced blocks.

The doctests of `unisono.tf` are run by `tests/tf`. What a fenced block needs is in `docstring_blocks.py`.
"""

import doctest
import gc
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import docstring_blocks
from tests.docs.given import make_dataset, make_model, make_rows
from tests.docs.page import Block
from tests.docs.run_page import run_blocks

SOURCE = Path(__file__).parents[1] / "src"
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>>" in path.read_text(encoding="utf-8") and "tf" not in path.relative_to(SOURCE).parts
)
DOCSTRINGS = docstring_blocks.find_docstrings()


def _parameters() -> list[Any]:
    return [
        pytest.param(name, id=name, marks=_marks(blocks))
        for name, blocks in DOCSTRINGS.items()
        if any(block.is_run for block in blocks)
    ]


def _marks(blocks: list[Block]) -> list[Any]:
    if any(block.is_full for block in blocks):
        return [pytest.mark.full]
    is_slow = any("fit(" in block.text or "own process" in block.comments for block in blocks)
    return [pytest.mark.slow] if is_slow else []


@pytest.fixture(scope="module")
def names() -> Iterator[dict[str, Any]]:
    """What the first line of an example takes for granted. One model for all of them: it is compiled once."""
    found: dict[str, Any] = {}
    exec(docstring_blocks.NAMES, found)
    x, y = make_rows()
    found |= {"model": make_model(), "x": x, "y": y, "dataset": make_dataset()}
    gc.collect()
    gc.freeze()  # each example ends with a collection, which takes 0.3 s with all that is imported
    yield found
    gc.unfreeze()


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", _parameters())
def test_the_blocks_of_a_docstring_run(name: str, names: dict[str, Any], tmp_path: Path) -> None:
    assert run_blocks(DOCSTRINGS[name], tmp_path, full=True, names=names) == len(DOCSTRINGS[name])


def test_blocks_that_are_not_run_compile() -> None:
    for name in docstring_blocks.NOT_RUN:
        for block in DOCSTRINGS[name]:
            compile(block.text, block.place, "exec")


def test_no_block_imports_from_the_private_package() -> None:
    assert [block.place for blocks in DOCSTRINGS.values() for block in blocks if "._src" in block.text] == []


def test_the_table_has_no_names_of_docstrings_without_a_block() -> None:
    table = {
        *docstring_blocks.NOT_RUN,
        *docstring_blocks.SETUPS,
        *docstring_blocks.OWN_PROCESS,
        *docstring_blocks.FULL,
    }
    assert sorted(table - DOCSTRINGS.keys()) == []
