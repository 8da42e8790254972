"""The badges of the README say what pyproject.toml says."""

import runpy

from tests.docs.page import ROOT


def test_the_badges_are_those_of_the_project() -> None:
    badges = runpy.run_path(str(ROOT / "docs" / "images" / "draw_badges.py"))
    assert badges["TARGET"].read_text() == badges["draw"](badges["read_facts"]())
