"""Layers for text and tokens; ../test_recorded_lookup_layers.py compares their numbers with TensorFlow's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unisono.tf as tf

LETTERS, NUMBERS = ["a", "b", "c", "d"], [12, 36, 1138, 42]
TEXTS = ["The quick, brown fox!", "jumps over the  LAZY dog", "the end"]


def adapted(layer: Any, data: Any) -> Any:
    layer.adapt(data)
    return layer


def test_text_is_looked_up_in_the_map_of_a_dataset() -> None:
    layer = tf.keras.layers.StringLookup(vocabulary=LETTERS)
    dataset = tf.data.Dataset.from_tensor_slices(["d", "a", "nothing"]).map(layer).batch(3)
    assert next(iter(dataset)).numpy().tolist() == [4, 1, 0]


def test_numbers_are_looked_up_inside_of_a_compiled_model() -> None:
    model = tf.keras.Sequential([tf.keras.layers.IntegerLookup(vocabulary=NUMBERS, mask_token=0, num_oov_indices=2)])
    eager = tf.keras.layers.IntegerLookup(vocabulary=NUMBERS, mask_token=0, num_oov_indices=2)
    tokens = np.array([[12, 0, 42], [7, 8, 1138]])
    np.testing.assert_array_equal(model.predict(tokens, verbose=0), eager(tokens))


def test_an_unknown_token_is_named_if_there_is_no_place_for_it() -> None:
    with pytest.raises(ValueError, match="'z'"):
        tf.keras.layers.StringLookup(vocabulary=LETTERS, num_oov_indices=0)(["a", "z"])


def test_a_vocabulary_is_saved_with_its_layer() -> None:
    layer = adapted(tf.keras.layers.TextVectorization(output_mode="tf_idf"), TEXTS)
    again = tf.keras.layers.TextVectorization.from_config(layer.get_config())
    np.testing.assert_allclose(again(TEXTS), layer(TEXTS))


def test_text_may_be_the_input_of_a_functional_model() -> None:
    inputs = tf.keras.layers.Input(shape=(2,), dtype=tf.string, name="words")
    stage = tf.keras.Model({"words": inputs}, tf.keras.layers.StringLookup(vocabulary=LETTERS)(inputs))
    dataset = tf.data.Dataset.from_tensor_slices({"words": [["a", "d"], ["x", "b"]]}).batch(2).map(stage)
    assert next(iter(dataset)).numpy().tolist() == [[1, 4], [0, 2]]


def test_functions_of_the_namespace_standardize_and_split_text() -> None:
    layer = tf.keras.layers.TextVectorization(
        standardize=lambda text: tf.strings.regex_replace(tf.strings.lower(text), "<br>", "|"),
        split=lambda text: tf.strings.split(text, "|"),
    )
    layer.adapt(tf.data.Dataset.from_tensor_slices(["Ab<br>c", "c"]).batch(2))
    assert layer.get_vocabulary() == ["", "[UNK]", "c", "ab"]
    assert np.asarray(layer(["C", "ab|x"])).tolist() == [[2, 0], [3, 1]]


@tf.keras.utils.register_keras_serializable(package="lookup_test")
def _shouted(text: Any) -> Any:
    return tf.strings.upper(text)


def test_a_text_layer_is_saved_with_its_functions(tmp_path: Path) -> None:
    layer = tf.keras.layers.TextVectorization(standardize=_shouted, vocabulary=["A", "B"])
    model = tf.keras.Sequential([tf.keras.Input((), dtype=tf.string), layer])
    model.save(tmp_path / "text.keras")
    loaded = tf.keras.models.load_model(tmp_path / "text.keras")
    assert loaded.layers[0].standardize is _shouted
    assert loaded.layers[0](["a b a"]).tolist() == [[2, 3, 2]]
