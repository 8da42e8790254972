"""Losses and metrics with the names of Keras 2."""

from typing import Any

import keras
import numpy as np
import pytest

import unisono.tf as tf

Y, P = np.array([[1.0], [0.0]], "float32"), np.array([[0.5], [2.0]], "float32")


def test_reductions_have_names() -> None:
    of_rows = tf.keras.losses.MeanSquaredError(reduction=tf.keras.losses.Reduction.NONE)
    np.testing.assert_allclose(of_rows(Y, P).numpy(), [0.25, 4.0])
    summed = tf.keras.losses.MeanSquaredError(reduction=tf.keras.losses.Reduction.SUM)
    assert summed(Y, P).numpy() == pytest.approx(4.25)
    mean = tf.keras.losses.MeanSquaredError(reduction=tf.keras.losses.Reduction.SUM_OVER_BATCH_SIZE)
    assert mean(Y, P).numpy() == pytest.approx(2.125)
    assert tf.keras.losses.MeanSquaredError(reduction=tf.keras.losses.Reduction.AUTO)(Y, P) == pytest.approx(2.125)
    assert keras.losses.MeanSquaredError(reduction="auto").reduction == "sum_over_batch_size"
    with pytest.raises(ValueError, match="not a reduction"):
        tf.keras.losses.Reduction.validate("product")


def test_short_names_are_functions() -> None:
    np.testing.assert_allclose(tf.keras.losses.mse(Y, P), [0.25, 4.0])
    np.testing.assert_allclose(tf.keras.losses.MAE(Y, P), [0.5, 2.0])
    assert tf.keras.losses.KLD is keras.losses.kl_divergence
    assert tf.keras.metrics.mae is keras.metrics.mean_absolute_error


def test_reset_states_clears_the_metric() -> None:
    mean = tf.keras.metrics.Mean()
    assert mean([1.0, 3.0]).numpy() == pytest.approx(2.0)
    mean.reset_states()
    assert mean.result().numpy() == 0.0


def test_a_metric_of_a_user_may_have_reset_states_alone() -> None:
    class Total(tf.keras.metrics.Metric):
        def __init__(self) -> None:
            super().__init__(name="total")
            self.total = self.add_weight("total", initializer="zeros")
            self.resets = 0

        def update_state(self, value: Any) -> None:
            self.total.assign_add(value)

        def result(self) -> Any:
            return self.total.value

        def reset_states(self) -> None:
            self.resets += 1
            super().reset_states()

    metric = Total()
    metric.update_state(2.0)
    metric.reset_state()
    assert (float(metric.result()), metric.resets) == (0.0, 1)
    metric.update_state(2.0)
    metric.reset_states()
    assert (float(metric.result()), metric.resets) == (0.0, 2)


def test_casts_to_64_bits_do_not_warn() -> None:
    overlap = tf.keras.metrics.MeanIoU(num_classes=2)
    overlap.update_state([0, 1, 1, 0], [0, 1, 0, 0])
    assert float(overlap.result()) == pytest.approx(7 / 12)
    assert keras.ops.cast(np.array([1.5]), "float64").dtype == "float32"
    assert keras.ops.cast(np.array([1.5]), "float16").dtype == "float16"


def test_the_result_of_a_metric_may_be_a_variable() -> None:
    class Rows(tf.keras.metrics.Metric):
        def __init__(self) -> None:
            super().__init__(name="rows")
            self.rows = self.add_weight(name="rows", initializer="zeros")

        def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
            self.rows.assign_add(tf.cast(tf.shape(y_true)[0], tf.float32))

        def result(self) -> Any:
            return self.rows

    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    model.compile("sgd", "mse", [Rows()])
    assert model.evaluate(Y, P, verbose=0, return_dict=True)["rows"] == 2.0
    assert Rows()(Y, P).numpy() == 2.0
