"""Batches of many lengths: padded to a few where the model's results stay the same, else a warning says what to do."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.core import collect_fit_facts
from unisono._src.training import _resume as resume_module
from unisono.data import Dataset

pytestmark = pytest.mark.slow

L = keras.layers
LENGTHS = [3, 5, 9, 5, 12, 10, 14, 11, 13]
RNG = np.random.default_rng(0)
BATCHES = [(RNG.integers(1, 20, (4, length)).astype("int32"), RNG.normal(size=(4, 1))) for length in LENGTHS]
BATCHES[2][0][1, 4:] = 0  # a shorter row


def _make(scope: Any, *layers: Any) -> Any:
    keras.utils.set_random_seed(0)
    with scope:
        embedding = L.Embedding(20, 4, mask_zero=True)
        pooling = layers or [L.GlobalAveragePooling1D()]
        model = keras.Sequential([keras.Input((None,), dtype="int32"), embedding, *pooling, L.Dense(1)])
        model.compile(keras.optimizers.SGD(0.1), "mse")
    return model


def _strategy() -> Any:
    return unisono.MirroredStrategy(["cpu:0", "cpu:1"])


class Batches(keras.utils.PyDataset):
    def __len__(self) -> int:
        return len(BATCHES)

    def __getitem__(self, index: int) -> Any:
        return BATCHES[index]


@pytest.fixture
def padding() -> Iterator[Any]:
    yield unisono.config.set_sequence_padding
    unisono.config.set_sequence_padding("auto")


def test_padding_bounds_the_programs_and_keeps_the_results_of_keras() -> None:
    stock, ours = _make(contextlib.nullcontext()), _make(_strategy().scope())
    expected = stock.fit(Batches(), shuffle=False, verbose=0).history["loss"]
    with collect_fit_facts() as facts:
        found = ours.fit(Batches(), shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    for one, other in zip(ours.get_weights(), stock.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert facts.steps == len(LENGTHS)
    assert facts.programs <= 4, "3 and 5 as they are, all others as 16; two forms of the first"

    table, kernel, bias = ours.get_weights()
    means = [np.stack([table[row[row > 0]].mean(0) for row in x]) for x, _ in BATCHES]
    outputs = np.concatenate(means) @ kernel + bias
    np.testing.assert_allclose(ours.predict(((x,) for x, _ in BATCHES), verbose=0), outputs, rtol=1e-4, atol=1e-6)
    errors = (outputs - np.concatenate([y for _, y in BATCHES])) ** 2
    np.testing.assert_allclose(ours.evaluate(Batches(), verbose=0), errors.mean(), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
def test_a_model_that_sees_the_padding_gets_none_and_the_shapes_are_named_once() -> None:
    model = _make(_strategy().scope(), L.GlobalMaxPooling1D())
    with pytest.warns(UserWarning, match="every shape compiles a program") as caught:
        model.evaluate(Batches(), verbose=0)
    [message] = [text for each in caught if "compiles" in (text := str(each.message))]
    assert re.search(r"batches of 8 shapes.*\(4, 3\), \(4, 5\)", message, re.S)
    assert "padded_batch" in message
    assert "'global_max_pooling1d" in message


@pytest.mark.full
def test_padding_can_be_switched_off_and_have_lengths(padding: Any) -> None:
    model = _make(_strategy().scope())
    padding("off")
    with pytest.warns(UserWarning, match=r'set_sequence_padding\("off"\) was called'):
        model.evaluate(Batches(), verbose=0)
    padding([20])
    with collect_fit_facts() as facts:
        model.fit(Batches(), verbose=0, shuffle=False)
    assert facts.programs <= 4, "3 and 5 as they are, all others as 20; two forms of the first"
    with pytest.raises(ValueError, match="whole numbers of at least 1"):
        padding([0])
    with pytest.raises(ValueError, match='"auto", "off" or a list of lengths'):
        padding("on")


@pytest.mark.full
def test_a_resumed_run_pads_as_before(tmp_path: Path) -> None:
    """The first lengths stay unpadded, so a resumed run has to know which these were: else the last bits differ."""

    def rows() -> Any:
        return [(x[0], y[0]) for x, y in BATCHES]

    def dataset() -> Any:
        made = Dataset.from_generator(
            rows, output_signature=(unisono.data.TensorSpec((None,), "int32"), unisono.data.TensorSpec((1,), "float64"))
        )
        return made.padded_batch(2)

    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 3:
                raise KeyboardInterrupt

    resume = unisono.Resume(tmp_path, policy=unisono.checkpoint.EverySteps(2))
    whole, broken, again = (_make(_strategy().scope()) for _ in range(3))
    whole.fit(dataset(), epochs=2, verbose=0)
    with pytest.raises(KeyboardInterrupt):
        broken.fit(dataset(), epochs=2, verbose=0, callbacks=[Stop()], resume=resume)
    resume_module._finished.clear()
    again.fit(dataset(), epochs=2, verbose=0, resume=resume)
    resume_module._finished.clear()
    np.testing.assert_equal(again.get_weights(), whole.get_weights())
