"""One word for one thing: words that the field does not use are in no file name, identifier, comment or page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks")
SUFFIXES = {".py", ".md", ".toml", ".yaml", ".sh", ".txt", ".ipynb"}

# Each with the word to write instead.
WORDS = {
    "manner": "kind, form, mode",
    "manners": "kinds, forms, modes",
    "kin": "related objects",
    "seam": "hook, border",
    "seams": "hooks, borders",
    "shelf": "series, folder",
    "shelves": "series, folders",
    "keeper": "checkpointer, owner",
    "keepers": "checkpointers, owners",
    "lent": "donated, passed",
    "muster": "rendezvous, collect",
    "wish": "request, preference",
    "wishes": "requests, preferences",
    "told": "notified, reported, distinguished",
    "mended": "fixed, restored",
    "go on": "continue, resume",
    "goes on": "continues, resumes",
    "going on": "continuing, resuming",
    "went on": "continued, resumed",
    "has places": "has positions",
    "comes to its end": "ends",
    "turns on the host": "alternates on the host",
}
# Identifiers are split at underscores and capitals, so that a phrase is found in the name of a test as in a comment.
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def _refused(text: str) -> list[str]:
    words = f" {' '.join(_WORD.findall(text)).lower()} "
    return [word for word in WORDS if f" {word} " in words]


def test_files_use_the_fields_own_words() -> None:
    """A word that is found: write one of those that WORDS has for it."""
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    files += [path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"]
    found = {
        f"{path.relative_to(ROOT)}: {word}": WORDS[word]
        for path in files
        if path != Path(__file__)
        for word in _refused(f"{path.relative_to(ROOT)}\n{path.read_text(encoding='utf-8')}")
    }
    assert found == {}


@pytest.mark.parametrize("text", ["told_before", "class RunKeeper:", "SHELVES", "it goes\n    # on", "test_it_goes_on"])
def test_words_are_found_in_identifiers_and_over_lines(text: str) -> None:
    assert len(_refused(text)) == 1


@pytest.mark.parametrize("text", ["kind", "recommended", "silently", "equivalent", "munge.keeperless", "on the host"])
def test_parts_of_other_words_are_not_found(text: str) -> None:
    assert _refused(text) == []
