"""What `fit` does to a step that keeps a GPU busy. Here, a step on a CPU is taken for one."""

from collections.abc import Callable

import keras
import numpy as np
import pytest

import unisono
from unisono._src.devices import Placement
from unisono._src.jax_hooks import reuse_logits
from unisono._src.training import Program, _programs, programs


@pytest.fixture
def train(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Program]:
    """Trains one step with the rules for GPUs, every product counting as large."""
    strategy = unisono.MirroredStrategy(["cpu:0"])
    with strategy.scope():
        layers = [keras.layers.Dense(6, activation="relu"), keras.layers.Dense(8)]
        model = keras.Sequential([keras.Input((16, 4)), *layers])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    monkeypatch.setattr(Placement, "platform", "gpu")
    monkeypatch.setattr(_programs, "_LARGE_STEP_FLOPS", 0.0)

    def fit() -> Program:
        model.fit(np.ones((4, 16, 4), "float32"), np.zeros((4, 16), "int32"), batch_size=4, verbose=0)
        (program,) = programs(model)
        return program

    return fit


def test_a_large_step_has_compiler_options_of_its_own(
    train: Callable[[], Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Placement, "large_step_options", {"xla_option_of_large_steps": True})
    with pytest.raises(Exception, match="xla_option_of_large_steps"):  # XLA's: there is no such option
        train()


@pytest.mark.slow
def test_a_large_step_keeps_rows_major_and_writes_gradients_over_logits(
    train: Callable[[], Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(reuse_logits.__kwdefaults__, "min_bytes", 0)
    program = train()
    assert program.form == "plain"
    assert "jit(constrained_sum)" in program.text
    assert "jit(overwrite)" in program.text


@pytest.mark.slow
def test_a_small_step_of_a_gpu_has_none_of_this(train: Callable[[], Program], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_programs, "_LARGE_STEP_FLOPS", 1e6)
    monkeypatch.setattr(Placement, "large_step_options", {"xla_option_of_large_steps": True})
    monkeypatch.setitem(reuse_logits.__kwdefaults__, "min_bytes", 0)
    program = train()
    assert program.form == "loop"
    assert "constrained_sum" not in program.text
    assert "overwrite" not in program.text
