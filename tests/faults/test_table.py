"""Whatever happens to a job, at whatever moment: started again it ends as if nothing had happened, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.faults._cells import CELLS, KINDS, MOMENTS, QUICK, VICTIMS, Fault
from tests.faults._jobs import result_of, run_to_the_end, said
from tests.faults._steps import attempts_of, steps_run_twice

# `make test-all` tries every eighth, so that it ends within the hour; `make faults` tries all.
_SAMPLING: Final = 8


def _parameters() -> list[Any]:
    return [pytest.param(fault, id=fault.id, marks=_marks(number, fault)) for number, fault in enumerate(CELLS)]


def _marks(number: int, fault: Fault) -> list[pytest.MarkDecorator]:
    if fault in QUICK:
        return [pytest.mark.slow]
    return [pytest.mark.full, pytest.mark.table] if number % _SAMPLING else [pytest.mark.full]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("fault", _parameters())
def test_the_result_is_that_of_an_undisturbed_job(
    fault: Fault,
    undisturbed: Callable[..., Any],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    for name in ("kind", "moment", "victim"):
        record_property(name, getattr(fault, name))
    expected = undisturbed(fault.job)
    if fault.kind == "full disk":
        record_property("disk", request.getfixturevalue("small_disk"))
    ending = run_to_the_end(fault.job, tmp_path, fault)
    record_property("codes", ending.codes)
    record_property("seconds", round(ending.seconds, 1))
    assert (tmp_path / "struck").exists(), f"the moment did not come:\n{said(tmp_path)}"
    twice, attempts = steps_run_twice(fault.job, tmp_path), attempts_of(tmp_path)
    record_property("attempts", len(attempts))
    record_property("twice", twice)
    result = result_of(tmp_path)
    differences = [name for name in expected.keys() | result.keys() if expected.get(name) != result.get(name)]
    assert not differences, said(tmp_path)
    if fault.kind == "SIGTERM":
        assert twice == 0, attempts
    if fault.kind != "full disk":  # which lasts until there is room again
        assert len(attempts) <= 2, said(tmp_path)
    if (fault.kind, fault.victim) == ("SIGSTOP", "launcher"):
        assert len(attempts) == 1, said(tmp_path)


def test_the_table_has_every_fault_at_every_moment() -> None:
    assert {(fault.kind, fault.moment) for fault in CELLS if fault.victim == "worker 0"} == {
        (kind, moment) for kind in KINDS for moment in MOMENTS
    }
    assert {fault.victim for fault in CELLS} == set(VICTIMS)
    assert set(QUICK) <= set(CELLS)
    assert len({fault.id for fault in CELLS}) == len(CELLS)
