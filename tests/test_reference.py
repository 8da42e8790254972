"""The reference has every public name once, and every public name has a docstring to describe it."""

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.public_api import public_members, public_modules

PAGES = Path(__file__).parents[1] / "docs" / "reference"
_BLOCK = re.compile(r"^```\{reference\}\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _public_values() -> Iterator[tuple[str, Any]]:
    for module in public_modules():
        for name in module.__all__:
            value = getattr(module, name)
            if not inspect.ismodule(value):
                yield f"{module.__name__}.{name}", value


def _without_docstring() -> Iterator[str]:
    for path, value in _public_values():
        if isinstance(value, int):  # described on its page
            continue
        if not inspect.getdoc(value) or (inspect.isclass(value) and not vars(value).get("__doc__")):
            yield path
        if not inspect.isclass(value):
            continue
        for signature in public_members(value):
            member = inspect.getattr_static(value, signature.partition("(")[0])
            described = isinstance(member, property | classmethod | staticmethod) or callable(member)
            if described and not inspect.getdoc(getattr(value, signature.partition("(")[0])):
                yield f"{path}.{signature.partition('(')[0]}"


def test_every_public_name_is_in_the_reference_once() -> None:
    """A name that is missing: add it to a block of the page in docs/reference where a reader would look for it."""
    blocks = [
        block for page in sorted(PAGES.glob("*.md")) for block in _BLOCK.findall(page.read_text(encoding="utf-8"))
    ]
    lines = [line.partition(": ")[0] for block in blocks for line in block.splitlines()]
    listed = Counter(line for line in lines if not line.startswith("module "))
    assert sorted(listed) == sorted(path for path, _ in _public_values())
    assert [path for path, count in listed.items() if count > 1] == []


def test_every_public_name_has_a_docstring() -> None:
    assert list(_without_docstring()) == []


def test_a_dataclass_has_a_docstring_of_its_own() -> None:
    """Without one, Python puts the signature there."""
    made = [
        path
        for path, value in _public_values()
        if inspect.isclass(value) and (value.__doc__ or "").startswith(f"{value.__name__}(")
    ]
    assert made == []
