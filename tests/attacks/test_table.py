"""A job whose ports are attacked while it waits and while it trains finishes as if nobody had been there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.attacks._attacks import ATTACKS, everything
from tests.attacks._jobs import Ending, result_of, run, said

CONNECTIONS = {"everything": 600}
CONNECTIONS_OF_ONE_KIND = 250

# `make test-all` tries all attacks at once, `make attacks` each of them too.
CELLS = [
    pytest.param("everything", everything, marks=pytest.mark.full),
    *(
        pytest.param(name, attack, id=name, marks=[pytest.mark.full, pytest.mark.table])
        for name, attack in ATTACKS.items()
    ),
]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], float]:
    """Its result, and how long it takes."""
    folder = tmp_path_factory.mktemp("undisturbed")
    ending = run(folder, None, connections=0)
    assert ending.codes == [0, 0], said(folder)
    return result_of(folder), ending.seconds


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "attack"), CELLS)
def test_the_result_is_that_of_a_job_that_nobody_attacks(
    name: str,
    attack: Any,
    undisturbed: tuple[dict[str, bytes], float],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("attack", name)
    expected, seconds = undisturbed
    ending: Ending = run(tmp_path, attack, connections=CONNECTIONS.get(name, CONNECTIONS_OF_ONE_KIND))
    record_property("undisturbed", round(seconds, 1))
    record_property("connections", ending.connections)
    record_property("added", round(ending.seconds - seconds, 1))
    record_property("finished", ending.codes == [0, 0])
    assert ending.codes == [0, 0], said(tmp_path)
    assert result_of(tmp_path) == expected, said(tmp_path)
    assert "attempt 1" not in said(tmp_path), "it was not restarted"
