"""The reference has every public name and every command once, and every public name has a docstring to describe it."""

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import optional_api
from tests.docs.page import read_blocks
from tests.public_api import public_members, public_modules
from unisono_launch._main import main

PAGES = Path(__file__).parents[1] / "docs" / "reference"
_BLOCK = re.compile(r"^```\{reference\}\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _public_values() -> Iterator[tuple[str, Any]]:
    for module in public_modules():
        for name in module.__all__:
            value = getattr(module, name)
            if not inspect.ismodule(value):
                yield f"{module.__name__}.{name}", value


def _static_classes() -> list[optional_api.StaticClass]:
    return [each for module in optional_api.MODULES for each in optional_api.static_classes(module)]


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
    assert sorted(listed) == sorted(
        [*(path for path, _ in _public_values()), *(each.path for each in _static_classes())]
    )
    assert [path for path, count in listed.items() if count > 1] == []


def test_every_public_name_has_a_docstring() -> None:
    assert list(_without_docstring()) == []
    for each in _static_classes():
        assert each.docstring, each.path
        assert [member for member, text in each.members.items() if not text] == []


def test_a_dataclass_has_a_docstring_of_its_own() -> None:
    """Without one, Python puts the signature there."""
    made = [
        path
        for path, value in _public_values()
        if inspect.isclass(value) and (value.__doc__ or "").startswith(f"{value.__name__}(")
    ]
    assert made == []


def test_every_command_and_every_engine_is_in_the_reference_once(capsys: pytest.CaptureFixture[str]) -> None:
    """A command that is missing: add a section to docs/reference/commands.md. The options come from its parser."""
    listed = [block.text.strip() for block in read_blocks(PAGES / "commands.md") if block.language == "{command}"]
    commands = re.findall(r"^    ([a-z-]+) ", _help_of([], capsys), re.MULTILINE)
    engines = re.findall(r"unisono (run --on \w+) --help", _help_of(["run"], capsys))
    assert len(commands) >= 7
    assert len(engines) >= 3
    assert sorted(listed) == sorted(
        ["unisono --help", *(f"unisono {command} --help" for command in (*commands, *engines))]
    )


def _help_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        main([*arguments, "--help"])
    return capsys.readouterr().out
