"""Reads the fenced blocks of a Markdown page, and the comments above them that say how they are run."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "examples/**/*.md") for path in ROOT.glob(pattern)
)

KOREAN_PAGES = [page for page in PAGES if page.name.endswith(".ko.md") or page.is_relative_to(ROOT / "docs/ko")]

# What a comment above a block may say; README.md in this folder describes each.
COMMENTS = ("setup", "files", "file", "folder", "not run", "full", "own process", "fails", "output")

# Languages of blocks that are run, and of those that are only read. Directives of MyST are in braces.
PYTHON, SHELL = ("python", "pycon"), ("bash", "console")
_READ = ("text", "json", "yaml", "toml", "ini", "dockerfile", "mermaid", "diff", "html", "make", "bibtex")

_FENCE = re.compile(r"^(?P<indent>\s*)(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
_COMMENT = re.compile(r"<!--\s*(?P<text>.*?)\s*-->", re.DOTALL)
_NAMED = re.compile(rf"(?P<name>{'|'.join(COMMENTS)})\b(?::[ \t]*(?P<value>.*))?$", re.DOTALL)


class PageError(Exception):
    """A page cannot be read; the text says where, and what to write."""


@dataclass(frozen=True)
class Block:
    """One fenced block. `line` is the number of the first line of its text on the page, starting at 1."""

    page: Path
    line: int
    language: str
    text: str
    comments: dict[str, str]
    directly_below: bool
    """Whether there is no text between this block, or its comments, and the block before."""

    @property
    def place(self) -> str:
        page = self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page
        return f"{page}:{self.line}"

    @property
    def is_python(self) -> bool:
        return self.language in PYTHON

    @property
    def is_shell(self) -> bool:
        return self.language in SHELL

    @property
    def is_run(self) -> bool:
        return (self.is_python or self.is_shell) and not self.comments.keys() & {"not run", "file"}

    @property
    def is_full(self) -> bool:
        return "full" in self.comments


def english_page(korean: Path) -> Path:
    """The page in English: docs/ko/X.md is docs/X.md, README.ko.md is README.md."""
    name = str(korean.relative_to(ROOT)).replace(".ko.md", ".md")
    return ROOT / re.sub("^docs/ko/", "docs/", name)


def read_blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order; raises :class:`PageError`."""
    return list(parse_blocks(page, page.read_text(encoding="utf-8").split("\n")))


def parse_blocks(page: Path, lines: list[str]) -> Iterator[Block]:
    """The blocks in the lines of a page."""
    position = end_of_last = 0
    while position < len(lines):
        opened = _FENCE.match(lines[position])
        if opened is None:
            position += 1
            continue
        end = _end_of_block(page, lines, position, opened["fence"])
        between = "\n".join(lines[end_of_last:position])
        comments, directly_below = _comments_above(page, position + 1, between)
        text = textwrap.dedent("\n".join(lines[position + 1 : end]) + "\n")
        language = _language(page, position + 1, opened["info"].strip())
        yield Block(page, position + 2, language, text, comments, directly_below)
        position = end_of_last = end + 1


def _end_of_block(page: Path, lines: list[str], start: int, fence: str) -> int:
    for position in range(start + 1, len(lines)):
        closed = _FENCE.match(lines[position])
        if closed and closed["fence"].startswith(fence) and not closed["info"].strip():
            return position
    raise PageError(f"{page}:{start + 1}: this block has no end. Write {fence} below it.")


def _comments_above(page: Path, line: int, between: str) -> tuple[dict[str, str], bool]:
    """The comments at the end of the text above a block; and whether nothing else is in this text."""
    found: dict[str, str] = {}
    remaining = between.rstrip()
    while remaining.endswith("-->"):
        start = remaining.rfind("<!--")
        comment = _COMMENT.fullmatch(remaining[start:])
        named = comment and _NAMED.match(comment["text"])
        if named is None:
            raise PageError(
                f"{page}:{line}: the comment above this block begins with none of {', '.join(COMMENTS)}: "
                f"{remaining[start:][:60]}"
            )
        value = textwrap.dedent((named["value"] or "").strip("\n"))
        if named["name"] == "not run" and not value:
            raise PageError(f"{page}:{line}: say why: <!-- not run: needs a SLURM cluster -->")
        # Of two setups above one block, the first one is first.
        found[named["name"]] = "\n".join(filter(None, [value, found.get(named["name"])]))
        remaining = remaining[:start].rstrip()
    return found, not remaining.strip()


def _language(page: Path, line: int, info: str) -> str:
    language = info.split()[0].lower() if info else ""
    if language.startswith("{"):
        if "code" in language:
            raise PageError(f"{page}:{line}: write a plain fence with a language, as in ```python, not {language}.")
        return language
    if language not in (*PYTHON, *SHELL, *_READ):
        raise PageError(
            f"{page}:{line}: the block needs a language: ```python or ```bash (run), ```console (commands after $, "
            f"and their output) or one that is only read: {', '.join(_READ)}. Found: {language or 'none'}"
        )
    return language
