"""Layers for text and tokens, compared with recorded results of TensorFlow."""

from typing import Any

import numpy as np

import unisono.tf as tf
from tests.tf.recording import recorded

WORDS, COUNTED = [["a", "c", "d"], ["d", "z", "b"]], [["a", "c", "d", "d"], ["d", "z", "b", "z"]]
LETTERS, NUMBERS = ["a", "b", "c", "d"], [12, 36, 1138, 42]
SEEN = [["a", "c", "d"], ["d", "z", "b"], ["d", "a", "y"]]
TEXTS = ["The quick, brown fox!", "jumps over the  LAZY dog", "the end"]
TOKENS = ["A", "B", "C", "D", "E", "hello", "a longer token of forty characters or so", "x" * 100, ""]


def adapt(layer: Any, data: Any) -> Any:
    layer.adapt(data)
    return layer


def vocabulary(layer: Any) -> list[str]:
    return [str(word) for word in layer.get_vocabulary()]


@recorded
def test_string_lookup():
    return [
        tf.keras.layers.StringLookup(vocabulary=LETTERS)(tf.constant(WORDS)),
        tf.keras.layers.StringLookup(vocabulary=LETTERS, mask_token="")(tf.constant([["a", "", "z"]])),
        tf.keras.layers.StringLookup(vocabulary=LETTERS, num_oov_indices=0)(tf.constant([["a", "d"]])),
        tf.keras.layers.StringLookup(vocabulary=LETTERS, num_oov_indices=3)(tf.constant([["a", *TOKENS]])),
        tf.keras.layers.StringLookup(vocabulary=LETTERS, invert=True)(tf.constant([[1, 3, 0], [4, 9, 2]])),
    ]


@recorded
def test_string_lookup_to_vectors():
    masked = tf.keras.layers.StringLookup(vocabulary=LETTERS, mask_token="", output_mode="count")
    weighted = tf.keras.layers.StringLookup(
        vocabulary=LETTERS, idf_weights=[0.25, 0.75, 0.6, 0.4], output_mode="tf_idf"
    )
    return [
        tf.keras.layers.StringLookup(vocabulary=LETTERS, output_mode="one_hot")(tf.constant(["a", "z", "d"])),
        tf.keras.layers.StringLookup(vocabulary=LETTERS, output_mode="one_hot")(tf.constant([["a"], ["z"]])),
        tf.keras.layers.StringLookup(vocabulary=LETTERS, output_mode="multi_hot")(tf.constant(WORDS)),
        tf.keras.layers.StringLookup(vocabulary=LETTERS, output_mode="count")(tf.constant(COUNTED)),
        masked(tf.constant([["a", "", "d"]])),
        weighted(tf.constant(COUNTED)),
    ]


@recorded
def test_integer_lookup():
    return [
        tf.keras.layers.IntegerLookup(vocabulary=NUMBERS)(np.array([[12, 1138, 42], [42, 1000, 36]])),
        tf.keras.layers.IntegerLookup(vocabulary=[12, 36], mask_token=0)(np.array([[12, 0, 7]])),
        tf.keras.layers.IntegerLookup(vocabulary=NUMBERS, num_oov_indices=2)(np.array([[12, 42], [37, 1000]])),
        tf.keras.layers.IntegerLookup(vocabulary=NUMBERS, output_mode="multi_hot")(
            np.array([[12, 42, 42], [42, 7, 7]])
        ),
        tf.keras.layers.IntegerLookup(vocabulary=NUMBERS, invert=True)(np.array([[1, 3, 4], [4, 0, 2]])),
    ]


@recorded
def test_adapted_vocabularies():
    batches = tf.data.Dataset.from_tensor_slices(SEEN).batch(2)
    numbers = adapt(tf.keras.layers.IntegerLookup(), np.array([[12, 1138, 42], [42, 1000, 36], [42, 36, 7]]))
    weighted = adapt(tf.keras.layers.StringLookup(output_mode="tf_idf"), batches)
    return [
        vocabulary(adapt(tf.keras.layers.StringLookup(), SEEN)),
        int(adapt(tf.keras.layers.StringLookup(), batches).vocabulary_size()),
        vocabulary(adapt(tf.keras.layers.StringLookup(max_tokens=4), SEEN)),
        [int(number) for number in numbers.get_vocabulary()],
        weighted(tf.constant([["a", "d", "d"], ["q", "z", "b"]])),
    ]


@recorded
def test_text_vectorization():
    plain = adapt(tf.keras.layers.TextVectorization(), TEXTS)
    short = adapt(tf.keras.layers.TextVectorization(max_tokens=6, output_sequence_length=4), TEXTS)
    padded = tf.keras.layers.TextVectorization(output_mode="multi_hot", max_tokens=8, pad_to_max_tokens=True)
    pairs = adapt(tf.keras.layers.TextVectorization(ngrams=2), TEXTS[:2])
    letters = adapt(tf.keras.layers.TextVectorization(split="character", standardize="lower"), ["Ab", "b"])
    weighted = adapt(tf.keras.layers.TextVectorization(output_mode="tf_idf"), TEXTS)
    return [
        [vocabulary(plain), plain(tf.constant(["the fox unknown", "dog"]))],
        [vocabulary(short), short(tf.constant(["the quick brown fox jumps", "dog"]))],
        adapt(padded, TEXTS)(tf.constant(["the quick the", "dog"])),
        [vocabulary(pairs), pairs(tf.constant(["the quick fox"]))],
        vocabulary(letters),
        weighted(tf.constant(["the quick the", "dog"])),
    ]


@recorded
def test_hashing():
    return [
        tf.keras.layers.Hashing(num_bins=7)(tf.constant([[token] for token in TOKENS])),
        tf.keras.layers.Hashing(num_bins=10**9)(tf.constant([["q" * length] for length in range(0, 200, 3)])),
        tf.keras.layers.Hashing(num_bins=3, mask_value="")(tf.constant([["A"], [""], ["D"]])),
        tf.keras.layers.Hashing(num_bins=5)(np.array([[1], [2], [3], [1000000], [-7]])),
        tf.keras.layers.Hashing(num_bins=4, output_mode="multi_hot")(tf.constant([["A", "B"], ["C", "D"]])),
    ]
