"""`TextVectorization`: texts to rows of token indices, or to vectors. Runs on the host."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Any, Final

import keras
import numpy as np

from unisono._src.data.dataset import Dataset
from unisono.tf._tensors import to_host_tensor
from unisono.tf.keras.layers._encoding import check_mode
from unisono.tf.keras.layers._lookup import StringLookup
from unisono.tf.keras.layers._vocabulary import TokenCounts, to_text
from unisono.tf.ragged._base import is_ragged
from unisono.tf.ragged._ragged_tensor import RaggedTensor

_PUNCTUATION: Final = re.compile(f"[{re.escape(string.punctuation)}]")

_STANDARDIZATIONS: Final[dict[str, Callable[[str], str]]] = {
    "lower": str.lower,
    "strip_punctuation": lambda text: _PUNCTUATION.sub("", text),
    "lower_and_strip_punctuation": lambda text: _PUNCTUATION.sub("", text.lower()),
}

UNKNOWN_CHOICE = "TextVectorization: {name} is {value!r}. Expected {known}, a function, or None."


@keras.saving.register_keras_serializable(package="unisono")
class TextVectorization(keras.Layer):
    """Splits texts into words, and maps words to indices or vectors.

    >>> layer = TextVectorization(vocabulary=["the", "fox"])
    >>> layer(["The fox!", "a fox"]).tolist()
    [[2, 3], [1, 3]]

    Args:
        max_tokens: the maximal size of the vocabulary, the indices of padding and unknown words included.
        standardize: "lower_and_strip_punctuation", "lower", "strip_punctuation", a function of one text, or None.
        split: "whitespace", "character", a function from a text to its words, or None for words.
        ragged: whether rows of indices are ragged instead of padded.
        ngrams: adds n-grams of words: a number for all sizes up to it, or a tuple of sizes.
        output_mode: "int", "multi_hot", "count" or "tf_idf".
        output_sequence_length: the length that rows are padded or truncated to.
        pad_to_max_tokens: whether vectors always have the length ``max_tokens``.
        vocabulary: the words, the path of a file of them, or None to collect them in adapt().
        idf_weights: a weight for each word, for "tf_idf".
        **kwargs: those of a layer.
    """

    runs_on_host = True

    def __init__(
        self,
        max_tokens: int | None = None,
        standardize: Any = "lower_and_strip_punctuation",
        split: Any = "whitespace",
        ngrams: Any = None,
        output_mode: str = "int",
        output_sequence_length: int | None = None,
        pad_to_max_tokens: bool = False,
        vocabulary: Any = None,
        idf_weights: Any = None,
        sparse: bool = False,
        ragged: bool = False,
        encoding: str = "utf-8",
        **kwargs: Any,
    ) -> None:
        kwargs.pop("dtype", None)
        super().__init__(**kwargs)
        if sparse:
            raise NotImplementedError("TextVectorization: sparse=True is not supported. Leave it out.")
        if ragged and output_mode != "int":
            raise ValueError(f"TextVectorization: ragged=True needs output_mode='int', and it is {output_mode!r}.")
        self.ragged = bool(ragged)
        self.standardize, self.split, self.ngrams = standardize, split, ngrams
        self._standardize_text = _choose("standardize", standardize, _STANDARDIZATIONS)
        self._split_text = _choose("split", split, {"whitespace": str.split, "character": list})
        self.output_mode = check_mode(output_mode, ("int", "multi_hot", "count", "tf_idf"))
        self.output_sequence_length = output_sequence_length
        self._lookup = StringLookup(
            max_tokens=max_tokens,
            mask_token="" if self.output_mode == "int" else None,
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            output_mode=self.output_mode,
            pad_to_max_tokens=pad_to_max_tokens,
        )

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Sets the vocabulary to the words of texts, an array or a dataset."""
        counts = TokenCounts()
        for number, batch in enumerate(data if isinstance(data, Dataset) else [data]):
            if steps is not None and number >= steps:
                break
            counts.add(self._to_words(batch))
        self._lookup._counts = counts
        self._lookup.finalize_state()

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[str]:
        """The vocabulary in the order of indices."""
        return self._lookup.get_vocabulary(include_special_tokens)

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Sets the vocabulary."""
        self._lookup.set_vocabulary(vocabulary, idf_weights)

    def vocabulary_size(self) -> int:
        """The size of the vocabulary."""
        return self._lookup.vocabulary_size()

    def build(self, input_shape: Any) -> None:
        """Creates no variables: the vocabulary is on the host."""
        self._lookup.built = True
        self.built = True

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(inputs, keras.KerasTensor):
            return super().__call__(inputs, *args, **kwargs)
        return self.call(inputs)

    def call(self, inputs: Any) -> Any:
        """Indices of words, or vectors of texts."""
        rows = self._to_words(inputs)
        if self.ragged:
            return self._to_ragged(rows, not is_ragged(inputs) and np.ndim(inputs) == 0)
        length = self.output_sequence_length if self.output_mode == "int" else None
        length = max((len(row) for row in rows), default=0) if length is None else length
        padded = np.array([[*row[:length], *[""] * (length - len(row))] for row in rows], object)
        if self.output_mode == "int":
            found = self._lookup(padded.reshape(len(rows), length))
        else:
            found = to_host_tensor(np.concatenate([np.asarray(self._lookup([row])) for row in rows]))
        return found[0] if not is_ragged(inputs) and np.ndim(inputs) == 0 else found

    def _to_ragged(self, rows: list[list[str]], is_scalar: bool) -> Any:
        rows = [row[: self.output_sequence_length] for row in rows]
        words = np.array([word for row in rows for word in row], object)
        indices = self._lookup(words) if len(words) else to_host_tensor(np.zeros(0, np.int64))
        return indices if is_scalar else RaggedTensor.from_row_lengths(indices, [len(row) for row in rows])

    def compute_output_spec(self, inputs: Any) -> Any:
        """The result's shape and dtype."""
        rows = inputs.shape[0] if len(inputs.shape) else None
        if self.output_mode == "int":
            return keras.KerasTensor((rows, self.output_sequence_length), "int32")
        dtype = "float32" if self.output_mode == "tf_idf" else "int32"
        return keras.KerasTensor((rows, self._lookup._vector_length()), dtype)

    def get_config(self) -> dict[str, Any]:
        """The configuration that a saved model stores, vocabulary included."""
        lookup_config = self._lookup.get_config()
        names = ("max_tokens", "output_mode", "pad_to_max_tokens", "vocabulary", "idf_weights")
        base: dict[str, Any] = super().get_config()
        return (
            base
            | {name: lookup_config[name] for name in names}
            | {
                "standardize": self.standardize,
                "split": self.split,
                "ngrams": self.ngrams,
                "output_sequence_length": self.output_sequence_length,
                "ragged": self.ragged,
            }
        )

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> TextVectorization:
        """Creates the layer from its configuration; custom functions have to be registered with Keras."""
        deserialized = {
            name: keras.saving.deserialize_keras_object(config[name])
            for name in ("standardize", "split")
            if isinstance(config.get(name), dict)
        }
        return cls(**config | deserialized)

    def _to_words(self, inputs: Any) -> list[list[str]]:
        if is_ragged(inputs):
            if self._split_text is None:
                return [self._with_ngrams([to_text(word) for word in row]) for row in inputs.to_list()]
            raise ValueError("TextVectorization of a ragged tensor: pass split=None, its values are words already.")
        array = np.asarray(inputs, object)
        if self._split_text is None:
            rows = [[to_text(word) for word in row] for row in np.atleast_2d(array)]
            return [self._with_ngrams(row) for row in rows]
        texts = [to_text(text) for text in array.reshape(-1)]
        if self._standardize_text is not None:
            texts = [to_text(self._standardize_text(text)) for text in texts]
        return [self._with_ngrams([to_text(word) for word in self._split_text(text)]) for text in texts]

    def _with_ngrams(self, words: list[str]) -> list[str]:
        if self.ngrams is None:
            return words
        sizes = range(1, self.ngrams + 1) if isinstance(self.ngrams, int) else self.ngrams
        return [" ".join(words[first : first + size]) for size in sizes for first in range(len(words) - size + 1)]


def _choose(name: str, value: Any, known: Any) -> Any:
    if value is None or callable(value):
        return value
    if value not in known:
        raise ValueError(UNKNOWN_CHOICE.format(name=name, value=value, known=", ".join(known)))
    return known[value]
