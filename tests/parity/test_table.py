"""The table covers what it promises, and the comparison sees what it should."""

from dataclasses import replace

import numpy as np
import pytest

from ._cells import (
    CELLS,
    MODELS,
    OPTIMIZERS,
    OVER_PROCESSES,
    ROW_KINDS,
    STRATEGIES,
    VARIATIONS,
    Problem,
    Rows,
    rows_for,
)
from ._compare import Solution, initial_differences, not_zero, run_differences, step_differences

DEFAULT = [cell for cell in CELLS if cell.tier == "default"]
MLP = Problem(model="mlp", optimizer="sgd", rows=Rows(rows=33, batch=16))


def test_the_default_tier_stays_small():
    assert len(DEFAULT) <= 24


def test_sharded_cells_of_the_default_tier_need_no_process_and_no_oracle_of_their_own():
    mirrored = [cell for cell in DEFAULT if not cell.is_sharded]
    for cell in DEFAULT:
        assert cell.problem in {each.problem for each in mirrored}
        assert cell.devices in {each.devices for each in mirrored}


@pytest.mark.parametrize("strategy", ["zero1", "zero3", "mesh2x2", "mesh2x4"])
def test_every_problem_is_in_the_table_with_sharded_state(strategy: str):
    solved = {cell.problem for cell in CELLS if cell.strategy == strategy}
    on_several = {cell.problem for cell in CELLS if not cell.is_sharded and cell.devices > 1}
    left_out = {(problem.model, problem.policy) for problem in on_several - solved}
    assert left_out <= {("attention", "mixed_bfloat16")}


def test_every_strategy_is_in_the_table():
    assert {cell.strategy for cell in CELLS} == set(STRATEGIES)


def test_cells_have_unique_names():
    assert len({cell.id for cell in CELLS}) == len(CELLS)
    problems = {cell.problem for cell in CELLS}
    assert len({problem.id for problem in problems}) == len(problems)


def test_every_model_and_every_variation_is_in_the_table():
    assert {cell.problem.model for cell in CELLS} == set(MODELS)
    assert {cell.problem.variation for cell in CELLS} == set(VARIATIONS)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_every_model_meets_both_optimizers_on_every_number_of_replicas(model: str, optimizer: str):
    cells = [c for c in CELLS if (c.problem.model, c.problem.optimizer) == (model, optimizer)]
    assert {cell.devices for cell in cells if not cell.is_sharded} == {1, 2, 4, 8}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_is_in_the_table(optimizer: str):
    assert any(cell.problem.optimizer == optimizer for cell in CELLS)


@pytest.mark.parametrize("replicas", [2, 4, 8])
@pytest.mark.parametrize("kind", ROW_KINDS)
def test_rows_meet_replicas_in_every_way(kind: str, replicas: int):
    rows = rows_for(kind, replicas)
    tier = DEFAULT if replicas == 4 else CELLS
    assert any((cell.problem.rows, cell.devices) == (rows, replicas) for cell in tier)


@pytest.mark.parametrize("replicas", [2, 4, 8])
def test_the_kinds_of_rows_are_what_their_names_say(replicas: int):
    assert rows_for("exact", replicas).last == 16
    assert rows_for("one_left", replicas).last == 1
    assert rows_for("one_short", replicas).last == replicas - 1
    assert 0 < rows_for("fewer", replicas).last < replicas
    assert rows_for("indivisible", replicas).batch % replicas


@pytest.mark.parametrize("strategy", OVER_PROCESSES)
def test_every_model_is_solved_by_three_processes(strategy: str):
    cells = [cell for cell in CELLS if cell.strategy == strategy]
    assert {(cell.devices, cell.processes) for cell in cells} == {(3, 3)}
    assert {cell.problem.model for cell in cells} == set(MODELS)
    assert {cell.problem.variation for cell in cells} == set(VARIATIONS)


def _solution(**changes: np.ndarray) -> Solution:
    weights = np.linspace(-0.5, 0.5, 12, dtype="float32")
    arrays = {
        "initial/trainable/000 d/kernel": weights,
        "initial/trainable/001 d/bias": np.zeros(3, "float32"),
        "step/trainable/000 d/kernel": weights - np.float32(0.125),
        "step/trainable/001 d/bias": np.full(3, -0.25, "float32"),
        "step/optimizer/000 sgd/iteration": np.array(1, "int32"),
        "step/logs/loss": np.array([1.5]),
        "run/predict": np.full((4, 3), 0.3, "float32"),
    }
    return Solution(arrays | changes, {})


def test_equal_solutions_do_not_differ():
    assert not initial_differences(_solution(), _solution())
    assert not step_differences(MLP, _solution(), _solution())
    assert not run_differences(MLP, _solution(), _solution())


@pytest.mark.parametrize(
    ("name", "error", "seen"),
    [
        ("step/trainable/000 d/kernel", 3e-6, True),
        ("step/trainable/000 d/kernel", 5e-8, False),
        ("step/trainable/001 d/bias", 3e-6, True),
        ("step/logs/loss", 3e-6, True),
        ("step/logs/loss", 1e-6, False),
        ("step/optimizer/000 sgd/iteration", 1, True),
    ],
)
def test_an_error_in_one_step_is_seen_above_the_tolerance(name: str, error: float, seen: bool):
    wrong = _solution().arrays[name].copy()
    wrong[...] = wrong + np.asarray(error).astype(wrong.dtype)
    assert bool(step_differences(MLP, _solution(), _solution(**{name: wrong}))) == seen


def test_a_gradient_is_seen_where_the_weights_hide_it():
    """An error of 1e-6 is nothing beside weights of 1000, and a hundredth of a gradient of 1e-4."""
    before = np.full(4, 1.0)
    ours = _solution(**{"initial/trainable/000 d/kernel": before, "step/trainable/000 d/kernel": before - 1e-4})
    bias = {"initial/trainable/001 d/bias": np.zeros(3), "step/trainable/001 d/bias": np.zeros(3)}
    ours = Solution(ours.arrays | bias, {})
    theirs = Solution(ours.arrays | {"step/trainable/000 d/kernel": before - 1.01e-4}, {})
    found = step_differences(MLP, ours, theirs)
    assert [difference.split(":")[0] for difference in found] == ["gradient/000 d/kernel[0]"]


def test_nan_missing_and_misshapen_are_differences():
    assert run_differences(MLP, _solution(), _solution(**{"run/predict": np.full((4, 3), np.nan, "float32")}))
    assert run_differences(MLP, _solution(), _solution(**{"run/predict": np.full((3, 3), 0.3, "float32")}))
    assert run_differences(MLP, _solution(), _solution(**{"run/extra": np.zeros(1)}))
    assert initial_differences(_solution(), _solution(**{"initial/trainable/001 d/bias": np.full(3, 1e-9, "float32")}))


def test_a_parameter_without_gradient_is_passed_over_and_must_have_none():
    problem = replace(MLP, model="batchnorm_bias")
    bias = "trainable/001 m/before_norm/bias"
    ours = {f"initial/{bias}": np.zeros(3, "float32"), f"step/{bias}": np.full(3, 1e-8, "float32")}
    theirs = ours | {f"step/{bias}": np.full(3, -1e-8, "float32")}
    assert not step_differences(problem, _solution(**ours), _solution(**theirs))
    assert not not_zero(problem, _solution(**ours))
    assert not_zero(problem, _solution(**ours | {f"step/{bias}": np.full(3, 1e-3, "float32")}))
