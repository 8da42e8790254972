"""The same plans on unisono.data, compared with what TensorFlow said (tf_data.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import unisono.data

from ._compare import differences
from ._observe import observe
from ._space import Space
from .differences import DIFFERENT
from .plans import PLANS

pytestmark = pytest.mark.slow

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "tf_data.json").read_text())["plans"]


def find_differences(name: str, folder: Path) -> dict[str, str]:
    space = Space(unisono.data, unisono.data.TensorSpec, lambda x: x.shape[0], folder)
    ours = observe(PLANS[name], space)
    return differences(RECORDED[name], json.loads(json.dumps(ours)))


def test_every_plan_has_been_recorded() -> None:
    assert sorted(PLANS) == sorted(RECORDED), "run python -m tests.conformance.record with a Python that has TensorFlow"


def test_every_difference_names_a_plan() -> None:
    assert not DIFFERENT.keys() - PLANS.keys()


@pytest.mark.parametrize("name", [name for name in PLANS if name not in DIFFERENT])
def test_a_plan_gives_what_tensorflow_gives(name: str, tmp_path: Path) -> None:
    found = find_differences(name, tmp_path)
    assert not found, "\n".join(f"{aspect}: {where}" for aspect, where in found.items())


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_on_purpose_is_there_and_is_the_only_one(name: str, tmp_path: Path) -> None:
    aspects, reason = DIFFERENT[name]
    found = find_differences(name, tmp_path)
    assert sorted(found) == sorted(aspects), f"{reason}: {found}"
