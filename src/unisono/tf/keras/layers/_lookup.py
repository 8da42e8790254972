"""`StringLookup` and `IntegerLookup`: tokens to their indices in a vocabulary, and back.

Keras's layers need TensorFlow. Text is looked up on the host with NumPy, eagerly or in a dataset's map. Integers can be
looked up inside compiled models, too.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono._src.data.dataset import Dataset
from unisono.tf._fingerprint import fingerprint
from unisono.tf._tensors import to_host_tensor
from unisono.tf.keras.layers._encoding import check_mode, encode, encode_shape, to_rows
from unisono.tf.keras.layers._vocabulary import TokenCounts, check_tokens, read_tokens, to_text
from unisono.tf.ragged._base import is_ragged

OUT_OF_VOCABULARY = """{layer}: {tokens} are not in the vocabulary, and num_oov_indices is 0."""

NO_VOCABULARY = "{layer} has no vocabulary yet. Call adapt(data), or pass vocabulary=[...]."

NO_SALT = "{layer}(salt=...) is not supported. Leave it out; tokens are then hashed by FarmHash, as in TensorFlow."


class _Lookup(keras.Layer):
    """The base of both layers.

    Args:
        max_tokens: the maximal size of the vocabulary, reserved indices included.
        num_oov_indices: the number of indices for tokens that are not in the vocabulary.
        mask_token: the token with index 0, which is ignored in vectors.
        oov_token: the token at the indices of unknown tokens.
        vocabulary: the tokens, the path of a file with one on each line, or None to collect them in adapt().
        idf_weights: a weight for each token, for "tf_idf".
        invert: whether indices are mapped to tokens.
        output_mode: "int", "one_hot", "multi_hot", "count" or "tf_idf".
        pad_to_max_tokens: whether vectors always have the length ``max_tokens``.
        sparse: accepted if it is false.
        salt: accepted if it is None.
        encoding: accepted; text is UTF-8.
        vocabulary_dtype: accepted.
        **kwargs: those of a layer.
    """

    _is_text: bool
    _default_oov: Any

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: Any = None,
        oov_token: Any = None,
        vocabulary: Any = None,
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        pad_to_max_tokens: bool = False,
        sparse: bool = False,
        salt: Any = None,
        encoding: str = "utf-8",
        vocabulary_dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("dtype", None)
        super().__init__(**kwargs)
        if salt is not None:
            raise NotImplementedError(NO_SALT.format(layer=type(self).__name__))
        if sparse:
            raise NotImplementedError("sparse=True is not supported: vectors are dense. Leave it out.")
        self.max_tokens, self.num_oov_indices, self.invert = max_tokens, num_oov_indices, invert
        self.mask_token, self.pad_to_max_tokens = mask_token, pad_to_max_tokens
        self.oov_token = self._default_oov if oov_token is None else oov_token
        self.output_mode = check_mode(output_mode)
        self._table = _Table([], None)
        self._counts = TokenCounts()
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    @property
    def runs_on_host(self) -> bool:
        """Whether it cannot be part of a compiled program, since its input is text."""
        return self._is_text and not self.invert

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Sets the vocabulary: a sequence, or the path of a file with a token on each line."""
        tokens = read_tokens(vocabulary, self._is_text)
        special = self._special_tokens()
        weights = None if idf_weights is None else np.asarray(idf_weights, "float32")
        if special and tokens[: len(special)] == special:
            tokens = tokens[len(special) :]
        elif weights is not None:
            weights = np.concatenate([np.full(len(special), weights.mean(), "float32"), weights])
        self._table = _Table(check_tokens(tokens, len(special), self.max_tokens), weights)

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Sets the vocabulary to the tokens of ``data``, an array or a dataset, the most frequent first."""
        self.reset_state()
        for number, batch in enumerate(data if isinstance(data, Dataset) else [data]):
            if steps is not None and number >= steps:
                break
            tokens = batch.flat_values if is_ragged(batch) else batch
            self._counts.add(to_rows(self._to_tokens(tokens)).tolist())
        self.finalize_state()

    def reset_state(self) -> None:
        """Drops the counts of adapt."""
        self._counts = TokenCounts()

    def finalize_state(self) -> None:
        """Sets the vocabulary to the tokens that adapt has counted."""
        special = self._special_tokens()
        max_counted = None if self.max_tokens is None else self.max_tokens - len(special)
        tokens = self._counts.most_frequent(max_counted, special)
        weights = None
        if self.output_mode == "tf_idf":
            token_weights = self._counts.idf_weights(tokens)
            weights = np.concatenate([np.full(len(special), token_weights.mean(), "float32"), token_weights])
        self._table = _Table(tokens, weights)

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """The vocabulary in the order of indices."""
        return [*(self._special_tokens() if include_special_tokens else []), *self._table.tokens]

    def vocabulary_size(self) -> int:
        """The size of the vocabulary, reserved indices included."""
        return len(self._special_tokens()) + len(self._table.tokens)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(inputs, keras.KerasTensor | jax.core.Tracer):
            return super().__call__(inputs, *args, **kwargs)
        return self.call(inputs)  # Keras would convert text to JAX arrays, which fails

    def call(self, inputs: Any) -> Any:
        """Indices of tokens, tokens of indices, or vectors."""
        if not self._table.tokens:
            raise RuntimeError(NO_VOCABULARY.format(layer=type(self).__name__))
        if is_ragged(inputs):
            if self.output_mode != "int":
                return to_host_tensor(np.stack([np.asarray(self.call(row[None]))[0] for row in inputs]))
            return inputs.with_flat_values(self.call(inputs.flat_values))
        if isinstance(inputs, jax.core.Tracer):
            return self._look_up_traced(inputs)
        result = self._invert(np.asarray(inputs)) if self.invert else self._look_up(self._to_tokens(inputs))
        return to_host_tensor(result)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the result."""
        return encode_shape(input_shape, self.output_mode, self._vector_length())

    def compute_output_spec(self, inputs: Any) -> Any:
        """The result's shape and dtype."""
        dtype = "float32" if self.output_mode == "tf_idf" else "int32"
        if self.invert:
            dtype = "string" if self._is_text else "int32"
        return keras.KerasTensor(self.compute_output_shape(inputs.shape), dtype)

    def get_config(self) -> dict[str, Any]:
        """The configuration that a saved model stores, vocabulary included."""
        tokens = self.get_vocabulary() if self._table.tokens else None
        weights = self._table.weights
        base: dict[str, Any] = super().get_config()
        return base | {
            "max_tokens": self.max_tokens,
            "num_oov_indices": self.num_oov_indices,
            "mask_token": self.mask_token,
            "oov_token": self.oov_token,
            "vocabulary": tokens,
            "idf_weights": None if weights is None else weights.tolist(),
            "invert": self.invert,
            "output_mode": self.output_mode,
            "pad_to_max_tokens": self.pad_to_max_tokens,
        }

    def _special_tokens(self) -> list[Any]:
        masks = [self.mask_token] if self.mask_token is not None and self.output_mode == "int" else []
        return masks + [self.oov_token] * self.num_oov_indices

    def _vector_length(self) -> int:
        return self.max_tokens if self.pad_to_max_tokens and self.max_tokens else self.vocabulary_size()

    def _padded_weights(self) -> Any:
        weights = self._table.weights
        return None if weights is None else np.pad(weights, (0, self._vector_length() - len(weights)))

    def _to_tokens(self, inputs: Any) -> np.ndarray[Any, Any]:
        array = np.asarray(inputs)
        if not self._is_text:
            return array.astype("int64")
        tokens = np.empty(array.shape, object)
        for index in np.ndindex(array.shape):
            tokens[index] = to_text(array[index])
        return tokens

    def _look_up(self, tokens: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        first = len(self._special_tokens())
        indices = np.array([self._find_index(token, first) for token in tokens.reshape(-1).tolist()], "int64")
        if (unknown := tokens.reshape(-1)[indices == _UNKNOWN_INDEX]).size:
            raise ValueError(OUT_OF_VOCABULARY.format(layer=type(self).__name__, tokens=unknown[:5].tolist()))
        found: np.ndarray[Any, Any] = self._to_output(np, indices.reshape(tokens.shape))
        return found

    def _find_index(self, token: Any, first: int) -> int:
        if self.mask_token is not None and token == self.mask_token:
            return 0 if self.output_mode == "int" else _MASKED_INDEX
        if token in self._table.index_by_token:
            return first + self._table.index_by_token[token]
        if self.num_oov_indices == 0:
            return _UNKNOWN_INDEX
        return first - self.num_oov_indices + self._oov_bucket(token)

    def _oov_bucket(self, token: Any) -> int:
        if self.num_oov_indices == 1:
            return 0
        return int((fingerprint(token.encode()) if self._is_text else token) % self.num_oov_indices)

    def _invert(self, indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        vocabulary = np.array(self.get_vocabulary(), object if self._is_text else "int64")
        known = (indices >= 0) & (indices < len(vocabulary))
        found = np.where(known, vocabulary[np.where(known, indices, 0)], self.oov_token)
        return found if self._is_text else found.astype("int64")

    def _to_output(self, xp: Any, indices: Any) -> Any:
        if self.output_mode == "int":
            return indices
        return encode(xp, indices, self.output_mode, self._vector_length(), self._padded_weights())

    def _look_up_traced(self, inputs: Any) -> Any:
        """Looks up traced numbers by a search in the sorted vocabulary."""
        if self._is_text and not self.invert:
            raise TypeError(
                "Text cannot be looked up inside a compiled program. Call the layer in a map of the dataset."
            )
        vocabulary = np.array(self.get_vocabulary(), "int32") if not self._is_text else None
        if self.invert:
            if vocabulary is None:
                raise TypeError("Text cannot be created inside a compiled program. Call the layer outside.")
            known = (inputs >= 0) & (inputs < len(vocabulary))
            return jnp.where(known, jnp.asarray(vocabulary)[jnp.where(known, inputs, 0)], self.oov_token)
        tokens, first = np.array(self._table.tokens, "int32"), len(self._special_tokens())
        order = np.argsort(tokens)
        nearest = jnp.clip(jnp.searchsorted(jnp.asarray(tokens[order]), inputs), 0, len(tokens) - 1)
        found = jnp.asarray(tokens[order])[nearest] == inputs
        oov = inputs % max(self.num_oov_indices, 1) + first - self.num_oov_indices
        indices = jnp.where(found, jnp.asarray(order)[nearest] + first, oov)
        if self.mask_token is not None:
            indices = jnp.where(inputs == self.mask_token, 0 if self.output_mode == "int" else _MASKED_INDEX, indices)
        return self._to_output(jnp, indices)


_MASKED_INDEX, _UNKNOWN_INDEX = -1, -2


class _Table:
    """A vocabulary without its special tokens, and the weights of all tokens."""

    def __init__(self, tokens: list[Any], weights: np.ndarray[Any, Any] | None) -> None:
        self.tokens, self.weights = tokens, weights
        self.index_by_token = {token: index for index, token in enumerate(tokens)}


@keras.saving.register_keras_serializable(package="unisono")
class StringLookup(_Lookup):
    """Maps strings to their indices in a vocabulary, or to vectors.

    >>> layer = StringLookup(vocabulary=["a", "b"])
    >>> layer([["a", "x"], ["b", "a"]]).tolist()
    [[1, 0], [2, 1]]
    """

    _is_text, _default_oov = True, "[UNK]"


@keras.saving.register_keras_serializable(package="unisono")
class IntegerLookup(_Lookup):
    """Maps integers to their indices in a vocabulary, or to vectors.

    >>> IntegerLookup(vocabulary=[12, 36])([[36, 5]]).tolist()
    [[2, 0]]
    """

    _is_text, _default_oov = False, -1
