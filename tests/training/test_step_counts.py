"""`steps_per_epoch`, `validation_steps` and `steps` that do not fit the data: results and warnings as in Keras."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import jax
import numpy as np
import pytest

import unisono
from tests.training import _step_count_cases as step_counts

CASES = step_counts.cases()


@pytest.fixture(scope="module")
def models() -> tuple[Any, Any, Any]:
    """A model on two devices; one of Keras's own, outside every scope; the weights of both."""
    with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = step_counts.make_model()
    stock = step_counts.make_model()
    return model, stock, stock.get_weights()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_any_number_of_steps_gives_what_keras_gives(name: str, models: tuple[Any, Any, Any]) -> None:
    model, stock, weights = models
    ours, theirs = (step_counts.run_case(each, weights, CASES[name]) for each in (model, stock))
    _compare(ours, theirs, name)


@pytest.mark.full
def test_a_process_without_unisono_gives_the_same(models: tuple[Any, Any, Any]) -> None:
    environment = {**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    output = subprocess.run(
        [sys.executable, step_counts.__file__], env=environment, capture_output=True, timeout=300, check=True
    ).stdout
    expected = json.loads(output)
    model, _, weights = models
    for name, case in CASES.items():
        _compare(step_counts.run_case(model, weights, case), expected[name], name)


def test_a_dataset_with_fewer_batches_than_validation_steps_is_used_whole(models: tuple[Any, Any, Any]) -> None:
    model, _, weights = models
    dataset = unisono.data.Dataset.from_tensor_slices((step_counts.XV, step_counts.YV)).batch(8)
    model.set_weights(weights)
    with pytest.warns(UserWarning, match="ran out of data after 3 of steps=50 steps"):
        loss = model.evaluate(dataset, steps=50, verbose=0)
    assert loss == pytest.approx(model.evaluate(dataset, verbose=0))


def _compare(ours: dict[str, Any], theirs: dict[str, Any], name: str) -> None:
    assert ours["batches"] == theirs["batches"], name
    assert jax.tree.structure(ours["result"]) == jax.tree.structure(theirs["result"]), name
    for one, other in zip(jax.tree.leaves(ours["result"]), jax.tree.leaves(theirs["result"]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7, err_msg=name)
    # Keras warns about every generator that ends, also where nobody said how long it is.
    if "None generator" not in name:
        assert ours["has_warned"] == theirs["has_warned"], name
