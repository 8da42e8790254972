"""Pages keep pace with the source: links lead somewhere, and files that a page names exist."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.page import PAGES, ROOT

# Where a path on a page may begin.
FOLDERS = [ROOT / name for name in ("", "src", "src/unisono", "src/unisono/_src", "benchmarks", "tests", "tests/loops")]
_CODE_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*\w\.(?:py|md|toml|json|csv|sh|yaml|txt))(?:::\w+)?`")
# Files of a user's, as an example shows them.
_EXAMPLES = re.compile(r"^(runs|ckpt|logs|path|folder)/")


def _text(page: Path) -> str:
    return _CODE_BLOCK.sub("", page.read_text(encoding="utf-8"))


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of headings."""
    headings = re.findall(r"^#+ +(.+)$", _text(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _broken_links(page: Path) -> Iterator[str]:
    for link in _LINK.findall(_text(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in _anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(_broken_links(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    named = set(_PATH.findall(_text(page)))
    missing = [
        path for path in named if not _EXAMPLES.match(path) and not any((folder / path).exists() for folder in FOLDERS)
    ]
    assert sorted(missing) == []


def test_the_glossary_is_short_and_every_term_names_a_file() -> None:
    rows = [line for line in (ROOT / "docs/glossary.md").read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    terms = rows[1:]  # without the header
    assert 0 < len(terms) <= 40
    assert [row for row in terms if "`" not in row.split("|")[-2]] == []


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    """A page that is missing: add it to a group of docs/navigation.toml."""
    groups = tomllib.loads((ROOT / "docs/navigation.toml").read_text(encoding="utf-8"))["group"]
    patterns = [re.sub(r".*<(.*)>", r"\1", entry) for group in groups for entry in group["contents"]]
    listed = {path for pattern in patterns for path in ROOT.glob(f"{pattern}.md")}
    assert [
        str(page.relative_to(ROOT)) for page in PAGES if page not in listed and page != ROOT / "docs/index.md"
    ] == []


def test_0011_names_every_small_file_that_is_left() -> None:
    """A private file of fewer than 30 lines: merge it into the file that uses it, or say in 0011 why it is left."""
    files = [path for path in (ROOT / "src").rglob("_*.py") if not path.name.startswith("__")]
    small = [path for path in files if len(path.read_text(encoding="utf-8").splitlines()) < 30]
    page = (ROOT / "docs/design/0011-packages-and-public-api.md").read_text(encoding="utf-8")
    rule = page.partition("**Small files.**")[2].partition("\n**")[0]
    named = {folder / path for path in re.findall(r"`([\w/]+\.py)`", rule) for folder in FOLDERS}
    assert sorted(str(path.relative_to(ROOT)) for path in small if path not in named) == []
    assert sorted(str(path) for path in named if path.exists() and path not in small) == []
