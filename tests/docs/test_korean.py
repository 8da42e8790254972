"""Korean pages keep pace with the English ones: the same sections, the same blocks, the same links, the same
numbers in tables.

The blocks of English pages are run by `test_pages.py`. Since those of a Korean page are the same code, they are not run
a second time.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.docs.page import KOREAN_PAGES, ROOT, Block, english_page, read_blocks

_FENCED = re.compile(r"^\s*(`{3,}).*?^\s*\1", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^(#+) +(.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HASH = re.compile(r"(^|\s)#\s.*$", re.MULTILINE)
_HANGUL = re.compile(r"[가-힣]")
_TABLE = re.compile(r"^\|.*\n\|[ :|-]+\n(?:\|.*(?:\n|\Z))*", re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e-?\d+)?")
_TRANSLATED = pytest.mark.parametrize("page", KOREAN_PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def _text(page: Path) -> str:
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


def _headings(page: Path) -> list[str]:
    """The anchors of the headings, as GitHub makes them."""
    return [re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for _, text in _HEADING.findall(_text(page))]


def _code(block: Block) -> str:
    """The block without comments in a language: lines without what follows ` # `, and without empty ends."""
    text = _HASH.sub("", block.text) if block.is_python or block.is_shell else block.text
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


def _target(page: Path, link: str) -> str:
    """Where a link leads, in English: a Korean page stands for its English one, an anchor for its section's number."""
    if re.match(r"[a-z]+:", link):
        return link
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    english = english_page(target) if target in KOREAN_PAGES else target
    if not anchor:
        return str(english.relative_to(ROOT))
    headings = _headings(target)
    return f"{english.relative_to(ROOT)}, section {headings.index(anchor) if anchor in headings else anchor}"


def _rows(table: str) -> Counter[tuple[tuple[str, ...], ...]]:
    """The rows with numbers, by cells. Words and rows may be in another order; a glossary may have another column."""
    lines = [_LINK.sub("](", line).strip("|").split("|") for line in table.splitlines()]
    numbers = ([sorted(_NUMBER.findall(cell)) for cell in line] for line in lines)
    found = (tuple(tuple(cell) for cell in row if cell) for row in numbers)
    return Counter(filter(None, found))


@_TRANSLATED
def test_a_korean_page_belongs_to_an_english_one_and_is_in_korean(page: Path) -> None:
    assert english_page(page).exists()
    assert _HANGUL.search(_text(page))


@_TRANSLATED
def test_both_languages_have_the_same_sections(page: Path) -> None:
    levels = [[len(marks) for marks, _ in _HEADING.findall(_text(each))] for each in (page, english_page(page))]
    assert levels[0] == levels[1]


@_TRANSLATED
def test_both_languages_have_the_same_blocks(page: Path) -> None:
    korean, english = ([(block.language, _code(block)) for block in read_blocks(each)] for each in _pair(page))
    assert korean == english


@_TRANSLATED
def test_both_languages_have_the_same_links(page: Path) -> None:
    korean, english = (Counter(_target(each, link) for link in _LINK.findall(_text(each))) for each in _pair(page))
    name = page.relative_to(ROOT)
    lacking = [f"{name} has no link to {target}: translate what has changed" for target in english - korean]
    surplus = [f"{name} links to {target}, and the English page does not" for target in korean - english]
    assert lacking + surplus == []


@_TRANSLATED
def test_both_languages_have_the_same_numbers_in_tables(page: Path) -> None:
    korean, english = ([_rows(table) for table in _TABLE.findall(_text(each))] for each in _pair(page))
    assert len(korean) == len(english)
    name = page.relative_to(ROOT)
    different = [
        f"{name}, table {number}: {sorted((theirs - ours).elements())} in English, "
        f"{sorted((ours - theirs).elements())} in Korean"
        for number, (ours, theirs) in enumerate(zip(korean, english, strict=True), start=1)
        if ours != theirs
    ]
    assert different == []


def test_links_of_korean_pages_lead_to_korean_pages_where_there_are_some() -> None:
    translated = {english_page(page): page for page in KOREAN_PAGES}
    found = []
    for page in KOREAN_PAGES:
        for link in _LINK.findall(_text(page)):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target in translated and target != english_page(page):
                found.append(
                    f"{page.relative_to(ROOT)}: {link}: write the path to {translated[target].relative_to(ROOT)}"
                )
    assert found == []


def _pair(page: Path) -> tuple[Path, Path]:
    return page, english_page(page)
