"""The strategies that custom loops are tried on, and the two ways to call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import unisono
from unisono._src.strategy import Strategy

from ._replicas import mirrored

_FOUR = pytest.param(4, id="4-replicas", marks=pytest.mark.full)


@pytest.fixture(params=[pytest.param(1, id="1-replica"), pytest.param(2, id="2-replicas"), _FOUR])
def strategy(request: pytest.FixtureRequest) -> Strategy:
    return mirrored(request.param)


@pytest.fixture(params=[pytest.param(2, id="2-replicas"), _FOUR])
def several(request: pytest.FixtureRequest) -> Strategy:
    return mirrored(request.param)


@pytest.fixture
def pair() -> Strategy:
    return mirrored(2)


@pytest.fixture
def four() -> Strategy:
    return mirrored(4)


@pytest.fixture(params=["one-device", "mirrored", "default"])
def alone(request: pytest.FixtureRequest) -> Strategy:
    """The strategies of one replica."""
    if request.param == "one-device":
        return unisono.OneDeviceStrategy("cpu:3")
    return mirrored(1) if request.param == "mirrored" else unisono.get_strategy()


@pytest.fixture(params=["eager", "function"])
def called(request: pytest.FixtureRequest) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorator of the step: none, or `function`."""
    if request.param == "function":
        return unisono.function

    def eager(step: Callable[..., Any]) -> Callable[..., Any]:
        return step

    return eager
