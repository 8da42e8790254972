"""Every command and block on a page of the documentation is run, or at least checked, so that no page goes stale."""

import contextlib
from pathlib import Path

import pytest

from tests.docs.commands import commands, inline_commands, problem, problem_inline
from tests.docs.page import KOREAN_PAGES, PAGES, ROOT, PageError, read_blocks
from tests.docs.run_page import run_page

_IDS = {page: str(page.relative_to(ROOT)) for page in PAGES}


def _pages(*, full: bool) -> list[Path]:
    """The pages with blocks to run, and those that cannot be read: these fail in their own test.

    Not the Korean ones: `test_korean.py` checks that their blocks are those of the English ones.
    """
    found = []
    for page in PAGES:
        if page in KOREAN_PAGES:
            continue
        with contextlib.suppress(PageError):
            if not any(block.is_run and block.is_full == full for block in read_blocks(page)):
                continue
        found.append(page)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("page", _pages(full=False), ids=_IDS.get)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    assert run_page(page, tmp_path, full=False) > 0


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", _pages(full=True), ids=_IDS.get)
def test_the_long_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    assert run_page(page, tmp_path, full=True) > 0


@pytest.mark.parametrize("page", PAGES, ids=_IDS.get)
def test_every_python_block_compiles_and_every_command_parses(page: Path) -> None:
    found = []
    for block in read_blocks(page):
        if block.is_python and ">>> " not in block.text:
            compile(block.text, block.place, "exec")
        if block.is_shell and "fails" not in block.comments:
            found += [
                f"{block.place}: {' '.join(words)}: {what}" for words in commands(block) if (what := problem(words))
            ]
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=_IDS.get)
def test_every_option_of_a_command_in_the_text_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = {command: what for command in inline_commands(text) if (what := problem_inline(command))}
    assert found == {}
