"""The public API is the one in the snapshot, so that a change of it is seen in review."""

import subprocess
import sys
from pathlib import Path

import pytest

import unisono

from . import public_api

ROOT = Path(__file__).parents[1]
SNAPSHOT = Path(__file__).with_name("public_api.txt")
MODULES = list(public_api.public_modules())


@pytest.mark.slow
def test_the_public_api_is_the_one_in_the_snapshot() -> None:
    # In its own process: other tests import unisono.tf, which adds old names of tf.distribute to strategies.
    command = [sys.executable, "-m", "tests.public_api"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    assert found.stdout.splitlines() == SNAPSHOT.read_text(encoding="utf-8").splitlines(), (
        "The public API has changed. If that is meant, note it in CHANGELOG.md and write the snapshot again: "
        "python -m tests.public_api > tests/public_api.txt"
    )


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_name_in_all_exists(module: object) -> None:
    assert [name for name in module.__all__ if not hasattr(module, name)] == []  # type: ignore[attr-defined]


def test_the_package_shows_its_public_names_and_nothing_else() -> None:
    shown = {name for name in dir(unisono) if not name.startswith("_")}
    assert shown - {*public_api.COMPATIBLE, *public_api.OPTIONAL} == set(unisono.__all__)
