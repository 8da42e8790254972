"""`make docs` builds the site without a warning, its links lead somewhere, and its pages have what docs/_ext adds."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.page import ROOT

pytestmark = [pytest.mark.full, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def site() -> Path:
    """The folder of the built site."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
    # ARGS are those of the target that runs the tests.
    command = ["make", "docs", f"PYTHON={sys.executable}", "ARGS="]
    built = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900
    )
    if built.returncode and "(from versions: none)" in built.stdout:
        pytest.skip("Sphinx is not installed in .venvs, and no package index can be reached")
    assert built.returncode == 0, built.stdout
    return ROOT / "build" / "docs" / "html"


class _Page(HTMLParser):
    """The links of a page, and the places in it to which links can lead."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.places = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id" and value:
                self.places.add(value)


_read = functools.cache(_Page)


def _broken_links(site: Path) -> Iterator[str]:
    for path in sorted(site.rglob("*.html")):
        for link in _read(path).links:
            if re.match(r"[a-z]+:", link):
                continue
            target, _, place = unquote(link).partition("#")
            file = (path.parent / target.partition("?")[0]).resolve() if target else path
            if not file.is_file() or (file.suffix == ".html" and place not in _read(file).places):
                yield f"{path.relative_to(site)}: {link}"


def _captions(site: Path, page: str) -> list[str]:
    return re.findall(r'class="caption[^>]*><span class="caption-text">([^<]+)', (site / page).read_text("utf-8"))


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    assert list(_broken_links(site)) == []


def test_a_page_leads_to_its_other_language_and_has_the_navigation_of_its_own(site: Path) -> None:
    assert "../ko/tutorial/1-one-device.html" in _read(site / "docs/tutorial/1-one-device.html").links
    assert "../../tutorial/1-one-device.html" in _read(site / "docs/ko/tutorial/1-one-device.html").links
    english, korean = _captions(site, "docs/index.html"), _captions(site, "docs/ko/index.html")
    assert english[:2] == ["Tutorial", "How-to guides"]
    assert korean == ["한국어", "튜토리얼", "방법 안내"]


def test_the_search_finds_korean_words_without_their_particles(site: Path) -> None:
    text = (site / "searchindex.js").read_text("utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    page = index["docnames"].index("docs/ko/tutorial/1-one-device")

    def pages(word: str) -> list[int]:
        found = [index[terms].get(word, []) for terms in ("terms", "titleterms")]  # a title is not in both
        return [page for pages in found for page in (pages if isinstance(pages, list) else [pages])]

    assert page in pages("스크립트를")
    assert page in pages("스크립트")


def test_the_reference_has_names_members_and_options(site: Path) -> None:
    strategies = _read(site / "docs/reference/strategies.html").places
    assert {"unisono.MirroredStrategy", "unisono.ParameterServerStrategy.close"} <= strategies
    assert "cmdoption-unisono-run-max-restarts" in _read(site / "docs/reference/commands.html").places


def test_the_reference_has_the_names_that_users_import(site: Path) -> None:
    page = (site / "docs/reference/training.html").read_text("utf-8")
    assert "unisono.checkpoint.SavePolicy" in re.sub("<[^>]*>", "", page)
    named = {
        path.name for path in (site / "docs" / "reference").glob("*.html") if "unisono._src." in path.read_text("utf-8")
    }
    assert named == set()


def test_files_of_the_repository_have_pages(site: Path) -> None:
    assert "repository/tests/parity.html" in _read(site / "README.html").links
    assert "test_table.py" in (site / "repository/tests/parity.html").read_text("utf-8")


def test_diagrams_are_drawn_and_long_names_in_tables_can_be_broken(site: Path) -> None:
    page = (site / "ARCHITECTURE.html").read_text("utf-8")
    assert re.search(r'<div class="layers"><div class="layer"><p>public modules</p>', page)
    assert re.search(r"<td>.*unisono_<wbr>launch/<wbr>", page)
