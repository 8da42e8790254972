"""docs/tf-guides.md, which `make tf-guides` writes, fits the tests of the guides."""

from __future__ import annotations

from pathlib import Path

from tests.tf.guides_page import ELSEWHERE, TESTS, features, render_page

PAGE = Path(__file__).parents[2] / "docs" / "tf-guides.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_page(), "type: make tf-guides"


def test_every_test_of_a_guide_says_what_it_shows() -> None:
    assert not [feature.test for feature in features() if not feature.text or ": " not in feature.guide]


def test_tests_of_guides_that_are_elsewhere_exist() -> None:
    assert not [file for rows in ELSEWHERE.values() for file in rows.values() if not (TESTS / file).is_file()]
