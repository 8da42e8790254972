"""Predicted times, from times that are given."""

from __future__ import annotations

from typing import Any

import pytest

from unisono._src.planning._collectives import Collective
from unisono._src.planning._compute_time import ComputeTimer
from unisono._src.planning._cost_model import MOST_DEVICES, CostModel, choose_numbers, last_that_pays, least_gain
from unisono._src.planning._interconnect import Measured, Ring, parse_bandwidth


class GivenTimes(ComputeTimer):
    """Takes 1 ms and 0.1 ms a row, on one device or on as many as there are cores."""

    def _measure(self, at_once: int, rows: int) -> float:
        return 1e-3 + 1e-4 * rows


def costs(exchange: Any, cores: int | None = None) -> CostModel:
    return CostModel(GivenTimes(None, cores), [Collective("all-reduce", 10_000_000)], exchange)  # type: ignore[arg-type]


NUMBERS = choose_numbers(MOST_DEVICES)
RING = Ring("test", bandwidth=1e9, latency=1e-5)


def test_a_step_computes_its_rows_and_sums_its_gradients_in_a_ring() -> None:
    found = {each.devices: each for each in costs(RING).same_batch(1024, NUMBERS)}
    assert found[1].seconds == pytest.approx(1e-3 + 0.1024)
    assert found[4].rows == 256
    assert found[4].compute == pytest.approx(1e-3 + 0.0256)
    assert found[4].exchange == pytest.approx(2 * 3 / 4 * 1e7 / 1e9 + 6 * 1e-5)
    assert found[64].compute == pytest.approx(1e-3 + 0.0016)
    assert max(found) == 1024
    assert found[4].efficiency == pytest.approx(found[1].seconds / found[4].seconds / 4)


def test_with_the_same_rows_of_a_device_only_the_exchange_grows() -> None:
    first, *more = costs(RING).same_rows(256, NUMBERS)
    assert {each.compute for each in more} == {first.compute}
    assert more[-1].devices == 1024
    assert more[-1].efficiency == pytest.approx(first.compute / more[-1].seconds)


def test_rows_that_only_fill_up_a_device_are_not_counted() -> None:
    found = {each.devices: each for each in costs(RING).same_batch(9, choose_numbers(8))}
    assert found[8].rows == 2
    assert found[8].rows_per_second == pytest.approx(9 / found[8].seconds)
    assert found[8].efficiency == pytest.approx(found[1].seconds / found[8].seconds / 8)


def test_devices_beyond_the_cores_divide_them() -> None:
    exchange = Measured("here", {2: 1e-3, 4: 2e-3, 8: 4e-3})
    found = {each.devices: each for each in costs(exchange, cores=2).same_rows(100, choose_numbers(16))}
    assert found[2].compute == found[1].compute
    assert found[8].compute == pytest.approx(4 * found[2].compute)
    assert found[16].exchange == pytest.approx(8e-3)


def test_a_step_computes_no_longer_than_it_was_seen_to_take() -> None:
    model = costs(Measured("here", {2: 0.0, 4: 0.0}), cores=2)
    model.timer.whole_steps[4, 25] = 5e-3
    found = {each.devices: each for each in model.same_batch(100, choose_numbers(4))}
    assert found[4].seconds == 5e-3
    assert found[2].seconds == pytest.approx(6e-3)


def test_more_devices_pay_until_a_doubling_gains_less_than_half() -> None:
    found = costs(RING).same_batch(1024, NUMBERS)
    last = last_that_pays(found)
    rates = {each.devices: each.rows_per_second for each in found}
    assert rates[last.devices] >= 1.5 * rates[last.devices // 2]
    assert rates[last.devices * 2] < 1.5 * rates[last.devices]


def test_a_number_between_two_powers_of_two_has_to_gain_less_than_a_doubling() -> None:
    found = {each.devices: each for each in costs(RING).same_rows(256, choose_numbers(6))}
    assert list(found) == [1, 2, 4, 6]
    assert least_gain(found[2], found[4]) == 1.5
    assert 1.0 < least_gain(found[4], found[6]) < 1.5


@pytest.mark.parametrize(
    ("text", "bandwidth"),
    [
        ("nvlink4", 0.8 * 450e9),
        ("25GB/s", 25e9),
        ("200Gbit/s", 25e9),
        ("1e9", 1e9),
        ("12.5GBps", 12.5e9),
        ("100Gbps", 12.5e9),
        ("10Gb/s", 1.25e9),
        ("25Gbytes/s", 25e9),
    ],
)
def test_a_bandwidth_is_a_name_or_a_rate(text: str, bandwidth: float) -> None:
    assert parse_bandwidth(text).bandwidth == pytest.approx(bandwidth)


@pytest.mark.parametrize("latency", [-1e-6, float("nan"), float("inf")])
def test_a_latency_that_no_message_has_is_refused(latency: float) -> None:
    with pytest.raises(ValueError, match=r"^--latency .* 0 or more"):
        parse_bandwidth("nvlink4", latency)


@pytest.mark.parametrize("text", ["nvlink99", "fast", "0GB/s", ""])
def test_another_bandwidth_is_an_error_that_lists_the_names(text: str) -> None:
    with pytest.raises(ValueError, match="infiniband-ndr"):
        parse_bandwidth(text)
