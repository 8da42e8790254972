"""Two languages in one site: docs/ko/X.md is the Korean page of docs/X.md, README.ko.md that of README.md.

A page shows the navigation of its language and links to its other language. The search finds Korean words with and
without their particles.
"""

import re
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

_HANGUL = re.compile(r"[가-힣]{3,}")
_NAMES = {"en": "English", "ko": "한국어"}
_KOREAN_CAPTION = re.compile(r"[가-힣]")


class SearchEnglishAndKorean(SearchEnglish):
    """English words by their stems; Korean words also by their beginnings, since particles follow without a space."""

    lang = "en-ko"
    # language_name stays "English": Sphinx derives the name of the stemmer's script from it.

    def split(self, input: str) -> list[str]:
        words = super().split(input)
        beginnings = [
            hangul[:length] for word in words for hangul in _HANGUL.findall(word) for length in range(2, len(hangul))
        ]
        return words + beginnings


def add_language(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Sets the language of a page, links to its other language, and a navigation in one language."""
    code = _language(page)
    context["language"] = code
    context["languages"] = [
        {
            "code": other,
            "name": name,
            "active": other == code,
            "link": context["pathto"](_counterpart(app, page, other)),
        }
        for other, name in _NAMES.items()
    ]
    tree = BeautifulSoup(context.get("furo_navigation_tree", ""), "html.parser")
    for caption in tree.find_all("p", class_="caption"):
        if bool(_KOREAN_CAPTION.search(caption.get_text())) != (code == "ko"):
            caption.find_next_sibling("ul").decompose()
            caption.decompose()
    context["furo_navigation_tree"] = str(tree)


def _language(page: str) -> str:
    return "ko" if page.startswith("docs/ko/") or page.endswith(".ko") else "en"


def _counterpart(app: Sphinx, page: str, language: str) -> str:
    """The page in that language, or the first page of it."""
    english = page.removesuffix(".ko").replace("docs/ko/", "docs/", 1)
    if language == "en":
        return english if english in app.env.found_docs else app.config.root_doc
    candidates = (f"{english}.ko", english.replace("docs/", "docs/ko/", 1), "docs/ko/index", "README.ko")
    return next((name for name in candidates if name in app.env.found_docs), app.config.root_doc)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_search_language(SearchEnglishAndKorean)
    app.connect("html-page-context", add_language, priority=900)  # after the theme's
    return {"parallel_read_safe": True, "parallel_write_safe": True}
