"""Subclassed models that are built by their shape, and weights for models that are not built."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unisono.tf as tf

X = np.ones((2, 4), "float32")


class Sub(tf.keras.Model):
    """Two layers, and one that is never called."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.unused = tf.keras.layers.Dense(3), tf.keras.layers.Dense(2), tf.keras.layers.Dense(7)

    def call(self, x: Any, training: Any) -> Any:
        return self.b(self.a(x))


@pytest.fixture(scope="module")
def built() -> Any:
    model = Sub()
    model.build((None, 4))
    return model


def test_build_makes_the_variables(built: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert built.built
    assert [tuple(each.shape) for each in built.weights] == [(4, 3), (3,), (3, 2), (2,)]
    built.summary()
    assert "23" in capsys.readouterr().out
    assert built(X, training=False).shape == (2, 2)


def test_build_takes_nests_of_shapes() -> None:
    class Sum(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = tf.keras.layers.Dense(4)

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs[0]) + inputs[1]

    model = Sum()
    model.build([(None, 3), tf.TensorShape([None, 4])])
    assert len(model.weights) == 2
    assert model([X[:, :3], X]).shape == (2, 4)


def test_a_build_of_ones_own_is_left_alone() -> None:
    class Own(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = tf.keras.layers.Dense(4)

        def build(self, input_shape: Any) -> None:
            self.scale = self.add_weight("scale", shape=(4,))
            super().build(input_shape)

        def call(self, x: Any) -> Any:
            return self.dense(x) * self.scale

    model = Own()
    model.build((None, 4))
    assert len(model.weights) == 1
    model(X)
    assert len(model.weights) == 3


def test_a_model_of_two_arguments_is_built_when_it_is_called() -> None:
    class Two(Sub):
        def call(self, x: Any, y: Any) -> Any:
            return self.b(self.a(x)) + y

    model = Two()
    with pytest.warns(UserWarning, match="unbuilt state"):  # Keras's, for the layer that is never called
        assert model(X, X[:, :2]).shape == (2, 2)
    assert len(model.weights) == 4


def test_a_model_that_cannot_be_called_says_why() -> None:
    class Wrong(Sub):
        def call(self, x: Any, training: Any) -> Any:
            raise KeyError("no such head")

    with pytest.raises(ValueError, match=r"Wrong.build\(\(None, 4\)\) calls the model once.*\n.*no such head"):
        Wrong().build((None, 4))


@pytest.mark.parametrize("name", ["w.weights.h5", "w.h5"])
def test_weights_are_loaded_after_build_and_are_an_error_before(built: Any, tmp_path: Path, name: str) -> None:
    built.save_weights(tmp_path / name)
    with pytest.raises(ValueError, match=r"has layers without variables \(dense"):
        Sub().load_weights(tmp_path / name)
    other = Sub()
    other.build((None, 4))
    other.load_weights(tmp_path / name)
    np.testing.assert_array_equal(other(X, training=False), built(X, training=False))
