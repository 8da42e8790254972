"""k replicas give one device's answer. The oracle is stock Keras in a process that never imports Unisono."""

import re

import pytest

from ._cells import CELLS, MODELS, Cell
from ._compare import initial_differences, not_zero, run_differences, step_differences
from .conftest import Solved

# The first test waits for all processes; each of those has a deadline of its own (_processes.py).
pytestmark = pytest.mark.timeout(2 * 60 * 60)


_MARKS = {"default": (), "full": ("full",), "table": ("full", "table")}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each cell. Those that this run leaves out anyway are not made: 6,000 tests take seconds."""
    if "cell" not in metafunc.fixturenames:
        return
    left_out = set(re.findall(r"not (\w+)", metafunc.config.getoption("markexpr")))
    cells = [cell for cell in CELLS if left_out.isdisjoint(_MARKS[cell.tier])]
    if metafunc.function is test_the_state_is_sharded:
        cells = [cell for cell in cells if cell.is_sharded]
    marks = {tier: [getattr(pytest.mark, name) for name in names] for tier, names in _MARKS.items()}
    metafunc.parametrize("cell", [pytest.param(cell, id=cell.id, marks=marks[cell.tier]) for cell in cells])


def _comparable(cell: Cell, solved: Solved) -> None:
    in_order = MODELS[cell.problem.model].random or cell.problem.variation == "validation_split"
    if solved.candidate == "reordered" and in_order:
        pytest.skip("the order of the rows is part of the answer")


def _report(found: list[str]) -> str:
    return "\n".join([f"{len(found)} differ:", *found[:20]])


def test_one_step_equals_the_step_of_one_device(cell: Cell, solved: Solved) -> None:
    _comparable(cell, solved)
    oracle, ours = solved.oracle(cell), solved.unisono(cell)
    assert not initial_differences(oracle, ours), "the two sides do not start from the same bits"
    if cell.problem.policy == "float32":
        assert not not_zero(cell.problem, oracle), "declared to have no gradient, and has one"
    found = step_differences(cell.problem, oracle, ours)
    assert not found, _report(found)


def test_a_short_run_equals_the_run_of_one_device(cell: Cell, solved: Solved) -> None:
    _comparable(cell, solved)
    found = run_differences(cell.problem, solved.oracle(cell), solved.unisono(cell))
    assert not found, _report(found)


def test_the_step_ran_on_every_device(cell: Cell, solved: Solved) -> None:
    facts = solved.unisono(cell).facts
    if solved.candidate != "unisono":
        pytest.skip("stock Keras runs on one device")
    assert set(facts["devices"].values()) == {cell.devices}, facts["devices"]
    programs = [program for program in facts["programs"] if program["kind"] == "train"]
    assert programs, f"no train program among {facts['programs']}"
    if cell.devices > 1:
        if (
            cell.replicas == 1
        ):  # its devices share the work of a layer: they sum what it computes, or gather its weights
            assert all(program["all_reduced"] or program["gathered"] for program in programs), programs
            return
        summed = [program["all_reduced"] for program in programs]
        assert all(summed), f"a step without an all-reduce: {programs}"
        # A number for each weight: the gradients are summed over the replicas. Only the single row that some
        # problems end with may be handed to all devices instead (XLA does so in front of a recurrent layer). On a
        # mesh each device sums its part of the gradients.
        least = facts["weights"] * cell.replicas / cell.devices
        assert max(summed) >= least, (least, programs)


def test_the_state_is_sharded(cell: Cell, solved: Solved) -> None:
    if solved.candidate != "unisono":
        pytest.skip("stock Keras shards nothing")
    facts = solved.unisono(cell).facts
    # Every model has a dimension that every number of devices divides. SGD without momentum has nothing to shard.
    assert facts["sharded"] == {
        "weights": not cell.strategy.endswith("zero1"),
        "optimizer": cell.problem.optimizer != "sgd",
    }
