"""Newcomers' mistakes: each message says what is wrong, in which line of their script, and what to type."""

import re
from pathlib import Path

import pytest

from tests.docs.output import differences
from tests.errors.mistake import Mistake
from tests.errors.run_mistake import run_mistake
from tests.errors.table import MISTAKES

PAGE = Path(__file__).parents[2] / "docs/errors.md"


def _shown(mistake: Mistake) -> str:
    section = re.search(rf"^### {re.escape(mistake.title)}$.*?```text\n(.*?)^```", PAGE.read_text(), re.S | re.M)
    assert section is not None, f"docs/errors.md lacks {mistake.title!r}. Type: make errors"
    return section[1]


def _parameters() -> list[object]:
    return [pytest.param(each, id=each.title, marks=pytest.mark.slow if _trains(each) else ()) for each in MISTAKES]


def _trains(mistake: Mistake) -> bool:
    """Whether something is compiled, or a process is started."""
    return mistake.how != "here" or mistake.is_warning or "resume=" in mistake.given


@pytest.mark.parametrize("mistake", _parameters())
def test_the_message_says_what_is_wrong_where_and_what_to_type(mistake: Mistake, tmp_path: Path) -> None:
    reading = run_mistake(mistake, tmp_path)
    for part in mistake.says:
        assert part in reading.message, reading.message
    if mistake.line is not None:
        assert mistake.line in reading.lines, reading.everything
    assert differences(_shown(mistake), reading.message) is None, f"Type: make errors. Now:\n{reading.message}"


def test_there_are_thirty_mistakes_with_titles_of_their_own() -> None:
    titles = [mistake.title for mistake in MISTAKES]
    assert len(set(titles)) == len(titles) >= 30


def test_the_page_has_no_other_mistakes() -> None:
    shown = re.findall(r"^### (.+)$", PAGE.read_text(), re.MULTILINE)
    assert shown == [mistake.title for mistake in MISTAKES]
