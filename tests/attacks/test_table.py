"""Jobs whose ports are attacked while they wait and while they train finish as if nobody had been there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.attacks import _jobs, _parameter_server_jobs
from tests.attacks._attacks import ATTACKS, everything
from tests.attacks._jobs import Ending, result_of, said

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
    return _undisturbed(_jobs.run, tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture(scope="module")
def undisturbed_with_servers(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], float]:
    """The same of a job with parameter servers."""
    return _undisturbed(_parameter_server_jobs.run, tmp_path_factory.mktemp("undisturbed-servers"))


def _undisturbed(run: Any, folder: Path) -> tuple[dict[str, bytes], float]:
    ending = run(folder, None, connections=0)
    assert set(ending.codes) == {0}, said(folder)
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
    record_property("job", "two launchers")
    _check(_jobs.run, name, attack, undisturbed, tmp_path, record_property)
    assert "attempt 1" not in said(tmp_path), "it was not restarted"


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "attack"), CELLS)
def test_the_result_with_parameter_servers_is_that_of_a_job_that_nobody_attacks(
    name: str,
    attack: Any,
    undisturbed_with_servers: tuple[dict[str, bytes], float],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("job", "parameter servers")
    _check(_parameter_server_jobs.run, name, attack, undisturbed_with_servers, tmp_path, record_property)
    assert "connected again" not in said(tmp_path), "the worker was not lost"


def _check(
    run: Any,
    name: str,
    attack: Any,
    undisturbed: tuple[dict[str, bytes], float],
    folder: Path,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("attack", name)
    expected, seconds = undisturbed
    ending: Ending = run(folder, attack, connections=CONNECTIONS.get(name, CONNECTIONS_OF_ONE_KIND))
    record_property("undisturbed", round(seconds, 1))
    record_property("connections", ending.connections)
    record_property("added", round(ending.seconds - seconds, 1))
    record_property("finished", set(ending.codes) == {0})
    assert set(ending.codes) == {0}, said(folder)
    assert result_of(folder) == expected, said(folder)
