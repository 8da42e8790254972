"""The plot of the benchmarks: contenders that can be distinguished, and drawn from the saved results."""

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
BACKGROUNDS = {"light": "#ffffff", "dark": "#14181d"}


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("page")


def brightness(color):
    parts = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_contender_has_a_shape_and_colors_of_its_own(page):
    for name in ("shape", "light", "dark"):
        assert len({getattr(symbol, name) for symbol in page.SYMBOLS.values()}) == len(page.SYMBOLS)


@pytest.mark.parametrize("scheme", BACKGROUNDS)
def test_symbols_stand_out_from_the_background(page, scheme):
    for symbol in page.SYMBOLS.values():
        dark, bright = sorted(map(brightness, (getattr(symbol, scheme), BACKGROUNDS[scheme])))
        assert (bright + 0.05) / (dark + 0.05) >= 3


def test_the_plot_is_the_one_of_the_saved_results(page):
    points = {case: its for case in page.CASES if (its := page.read_points(case))}
    assert (BENCHMARKS / "results.svg").read_text() == page.draw(points)
