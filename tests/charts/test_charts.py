"""Charts: valid SVG, values at their places, user text escaped."""

import math
import xml.etree.ElementTree as ElementTree

import pytest

from unisono._src.charts import Mark, Series, chart_style, draw_lines, draw_stacked_bars
from unisono._src.charts._scale import Scale, fit_scale

SVG = "{http://www.w3.org/2000/svg}"


def elements(chart, tag, css=""):
    return [each for each in ElementTree.fromstring(chart).iter(SVG + tag) if css in each.get("class", "")]


def texts(chart):
    return ["".join(each.itertext()) for each in elements(chart, "text")]


def test_a_line_chart_has_a_line_per_series_a_legend_and_labelled_marks():
    chart = draw_lines(
        [Series("loss", [0, 1, 2], [3.0, 2.0, 1.0]), Series("val_loss", [0, 1, 2], [3.1, 2.5, 2.0], dashed=True)],
        title="Loss",
        x_label="epoch",
        marks=[Mark(1, "restart 1")],
    )
    lines = [each for each in elements(chart, "path", "line") if each.get("d").count("L") == 2]
    assert [each.get("class") for each in lines] == ["line c1", "line c2"]
    assert {"Loss", "epoch", "loss", "val_loss", "restart 1"} <= set(texts(chart))
    assert len(elements(chart, "path", "mark")) == 2  # and the sample in the legend


def test_text_of_the_user_is_escaped():
    name = "<script>alert('x')</script>&\"quoted\""
    for chart in (
        draw_lines([Series(name, [1, 2], [1, 2])], title=name, x_label=name, legend=True, marks=[Mark(1, name)]),
        draw_stacked_bars([Series(name, [1, 2], [1, 2])], title=name, y_label=name),
    ):
        assert "<script" not in chart
        assert any(name in text for text in texts(chart))  # it is shown as it is


def test_a_value_without_a_place_is_a_gap_in_the_line():
    linear = draw_lines([Series("loss", range(5), [1.0, 2.0, math.nan, 2.0, 1.0])])
    log = draw_lines([Series("loss", range(5), [1.0, 2.0, 0.0, 2.0, 1.0])], y_scale="log")
    for chart in (linear, log):
        (line,) = elements(chart, "path", "line")
        assert line.get("d").count("M") == 2
    alone = draw_lines([Series("loss", range(3), [math.nan, 1.0, math.inf])])
    assert len(elements(alone, "circle")) == 1


@pytest.mark.parametrize("values", [[], [math.nan, math.inf]])
def test_a_chart_without_values_says_so(values):
    assert "no values" in texts(draw_lines([Series("loss", range(len(values)), values)], title="Loss"))
    assert "no values" in texts(draw_stacked_bars([Series("wait", [], [])]))


def test_a_long_line_is_thinned_and_keeps_its_peaks():
    values = [0.0] * 100_000
    values[54_321] = 7.0
    chart = draw_lines([Series("spike", range(len(values)), values)])
    (line,) = elements(chart, "path", "line")
    assert line.get("d").count("L") < 700
    places = [float(point.split()[1]) for point in line.get("d")[1:].split("L")]
    assert min(places) < max(places) - 100  # pixels count downwards


def test_stacked_bars_stand_on_each_other():
    chart = draw_stacked_bars([Series("compute", [1, 2], [3.0, 1.0]), Series("input wait", [1, 2], [1.0, 3.0])])
    bars = [each for each in elements(chart, "rect", "area") if each.find(SVG + "title") is not None]
    assert len(bars) == 4
    lower, upper = (bars[0], bars[1])
    assert float(upper.get("y")) + float(upper.get("height")) == pytest.approx(float(lower.get("y")), abs=0.2)
    assert float(lower.get("height")) == pytest.approx(3 * float(upper.get("height")), rel=0.01)


def test_many_bars_become_averages_of_neighbours():
    chart = draw_stacked_bars([Series("compute", range(10_000), [1.0] * 10_000)])
    assert len(elements(chart, "rect", "area")) < 250


def bars_of(chart):
    return [each for each in elements(chart, "rect", "area") if each.find(SVG + "title") is not None]


def test_averages_of_neighbours_touch_each_other_also_if_the_last_group_is_smaller():
    bars = bars_of(draw_stacked_bars([Series("compute", range(10_001), [1.0] * 10_001)]))
    ends = [float(bar.get("x")) + float(bar.get("width")) for bar in bars[:-3]]
    assert ends == pytest.approx([float(bar.get("x")) for bar in bars[1:-2]], abs=0.2)


def test_two_bars_that_are_close_to_each_other_do_not_make_the_others_thin():
    bars = bars_of(draw_stacked_bars([Series("compute", [500, 1000, 1001, 1500, 2000], [1.0] * 5)]))
    assert [float(bar.get("width")) > 20 for bar in bars] == [True, False, False, True, True]


@pytest.mark.parametrize(
    "values",
    [[0.1, 0.1 + 1e-16], [1e6, 1e6 + 1e-9], [5e-324, 1e-323], [-1e308, 1e308, 1.0], [1e-300, 1.0, 1e300]],
    ids=["almost equal", "almost equal and large", "almost zero", "beyond all sums", "beyond all ratios"],
)
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_values_that_are_almost_equal_or_extreme_have_a_chart(values, scale):
    chart = draw_lines([Series("loss", range(len(values)), values)], y_scale=scale)
    assert "nan" not in chart
    ElementTree.fromstring(chart)


def test_parts_with_different_x_are_an_error():
    with pytest.raises(ValueError, match="same x"):
        draw_stacked_bars([Series("a", [1], [1]), Series("b", [2], [1])])
    with pytest.raises(ValueError, match="2 values of x and 1 of y"):
        Series("a", [1, 2], [1])


def test_ticks_are_round_numbers_within_the_axis():
    assert Scale("linear", 0, 97, 0, 100).ticks(5) == [0, 20, 40, 60, 80]
    assert Scale("linear", 1, 3, 0, 100).ticks(8, whole=True) == [1, 2, 3]
    assert Scale("log", 1e-7, 1.0, 0, 100).ticks(10) == pytest.approx([10.0**each for each in range(-7, 1)])
    assert Scale("log", 0.15, 0.9, 0, 100).ticks(5) == pytest.approx([0.2, 0.5])
    constant = fit_scale("linear", [0.5, 0.5], 0, 100)
    assert constant.low < 0.5 < constant.high


def test_the_numbers_of_an_axis_have_one_format():
    rates = draw_lines([Series("rate", [1, 2, 3], [0.001, 0.0005, 0.0])])
    assert {"0", "0.0002", "0.0004", "0.0006", "0.0008", "0.001"} <= set(texts(rates))
    assert not any("e-" in text for text in texts(rates))
    steps = draw_lines([Series("loss", [0, 20_000], [1.0, 2.0])])
    assert {"5k", "10k", "20k"} <= set(texts(steps))
    tiny = draw_lines([Series("loss", [1, 2], [0.0, 1e-14])])
    assert {"0", "0.2e-14", "1e-14"} <= set(texts(tiny))


def test_a_long_legend_is_wrapped_and_leaves_room_for_the_plot():
    names = [
        f"runs/a-folder-whose-name-is-longer-than-a-line-of-the-legend/and-has-an-end-{number}" for number in range(20)
    ]
    chart = draw_lines([Series(name, [1, 2], [1, 2]) for name in names])
    assert all(any(f"end-{number}" in text for text in texts(chart)) for number in range(20))
    places = [float(each.get("y")) for each in elements(chart, "text", "small")]
    assert max(places) - min(places) > 100
    assert max(places) <= float(ElementTree.fromstring(chart).get("height"))


def test_marks_of_one_label_share_an_entry_of_the_legend():
    marks = [Mark(1, "restart", "a"), Mark(2, "restart", "b"), Mark(2.5, "preemption")]
    chart = draw_lines([Series("loss", [0, 3], [1, 2])], marks=marks)
    assert texts(chart).count("restart") == texts(chart).count("preemption") == 1
    lines = [each for each in elements(chart, "path", "mark") if each.find(SVG + "title") is not None]
    assert [each.find(SVG + "title").text for each in lines] == ["a", "b", "preemption"]
    assert lines[0].get("stroke-dasharray") != lines[2].get("stroke-dasharray")


def test_only_a_standalone_chart_carries_its_style():
    series = [Series("loss", [1, 2], [1, 2])]
    assert chart_style() in draw_lines(series)
    assert "<style>" not in draw_lines(series, standalone=False)
    assert "prefers-color-scheme:dark" in chart_style()
