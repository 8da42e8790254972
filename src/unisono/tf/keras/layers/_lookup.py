"""`StringLookup` and `IntegerLookup`: tokens to their places in a vocabulary, and back.

Keras's need TensorFlow. Text stays on the host: it is looked up by NumPy, eagerly or in a dataset's map. Numbers can
be looked up inside of compiled models too.
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
from unisono.tf.keras.layers._encoding import checked_mode, encoded, encoded_shape, rows_of
from unisono.tf.keras.layers._vocabulary import Counts, checked, text_of, tokens_in

OUT_OF_VOCABULARY = """{layer}: {tokens} are not in the vocabulary, and num_oov_indices=0 leaves no place for them."""

NO_VOCABULARY = "{layer} has no vocabulary yet. Call adapt(data), or make the layer with vocabulary=[...]."

NO_SALT = "{layer}(salt=...) is not available. Leave salt out; tokens are then spread by FarmHash, as TensorFlow does."


class _Lookup(keras.Layer):
    """What both have in common.

    Args:
        max_tokens: how many places there are at most, with those that are reserved.
        num_oov_indices: places for tokens that are not in the vocabulary.
        mask_token: goes to place 0, and counts for nothing in vectors.
        oov_token: what the places of unknown tokens are called.
        vocabulary: the tokens, the path of a file with one on each line, or None to find them by adapt().
        idf_weights: a weight for each token, for "tf_idf".
        invert: whether places become tokens.
        output_mode: "int", "one_hot", "multi_hot", "count" or "tf_idf".
        pad_to_max_tokens: whether vectors are as long as ``max_tokens`` in any case.
        sparse: accepted if it is false.
        salt: accepted if it is None.
        encoding: accepted; text is UTF-8.
        vocabulary_dtype: accepted.
        **kwargs: a layer's.
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
            raise NotImplementedError("sparse=True is not available: vectors are dense.")
        self.max_tokens, self.num_oov_indices, self.invert = max_tokens, num_oov_indices, invert
        self.mask_token, self.pad_to_max_tokens = mask_token, pad_to_max_tokens
        self.oov_token = self._default_oov if oov_token is None else oov_token
        self.output_mode = checked_mode(output_mode)
        self._table = _Table([], None)
        self._counts = Counts()
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    @property
    def runs_on_host(self) -> bool:
        """Whether it cannot be part of a compiled program: text goes in."""
        return self._is_text and not self.invert

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """From now on the vocabulary is this one: a sequence, or the path of a file with a token on each line."""
        tokens = tokens_in(vocabulary, self._is_text)
        special = self._special()
        weights = None if idf_weights is None else np.asarray(idf_weights, "float32")
        if special and tokens[: len(special)] == special:
            tokens = tokens[len(special) :]
        elif weights is not None:
            weights = np.concatenate([np.full(len(special), weights.mean(), "float32"), weights])
        self._table = _Table(checked(tokens, len(special), self.max_tokens), weights)

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Finds the vocabulary: the tokens of ``data``, an array or a dataset, the most frequent first."""
        self.reset_state()
        for number, batch in enumerate(data if isinstance(data, Dataset) else [data]):
            if steps is not None and number >= steps:
                break
            self._counts.add(rows_of(self._tokens(batch)).tolist())
        self.finalize_state()

    def reset_state(self) -> None:
        """Forgets what adapt has seen."""
        self._counts = Counts()

    def finalize_state(self) -> None:
        """Makes a vocabulary of what adapt has seen."""
        special = self._special()
        most = None if self.max_tokens is None else self.max_tokens - len(special)
        tokens = self._counts.most_frequent(most, special)
        weights = None
        if self.output_mode == "tf_idf":
            of_tokens = self._counts.idf_weights(tokens)
            weights = np.concatenate([np.full(len(special), of_tokens.mean(), "float32"), of_tokens])
        self._table = _Table(tokens, weights)

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """The vocabulary in the order of places."""
        return [*(self._special() if include_special_tokens else []), *self._table.tokens]

    def vocabulary_size(self) -> int:
        """How many places there are, with those that are reserved."""
        return len(self._special()) + len(self._table.tokens)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(inputs, keras.KerasTensor | jax.core.Tracer):
            return super().__call__(inputs, *args, **kwargs)
        return self.call(inputs)  # Keras would make arrays of JAX of it, which hold no text

    def call(self, inputs: Any) -> Any:
        """Places of tokens, tokens of places, or vectors."""
        if not self._table.tokens:
            raise RuntimeError(NO_VOCABULARY.format(layer=type(self).__name__))
        if isinstance(inputs, jax.core.Tracer):
            return self._in_program(inputs)
        result = self._inverted(np.asarray(inputs)) if self.invert else self._looked_up(self._tokens(inputs))
        return to_host_tensor(result)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the result."""
        return encoded_shape(input_shape, self.output_mode, self._depth())

    def compute_output_spec(self, inputs: Any) -> Any:
        """The result's shape and dtype."""
        dtype = "float32" if self.output_mode == "tf_idf" else "int32"
        if self.invert:
            dtype = "string" if self._is_text else "int32"
        return keras.KerasTensor(self.compute_output_shape(inputs.shape), dtype)

    def get_config(self) -> dict[str, Any]:
        """What a saved model keeps of it, the vocabulary too."""
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

    def _special(self) -> list[Any]:
        masks = [self.mask_token] if self.mask_token is not None and self.output_mode == "int" else []
        return masks + [self.oov_token] * self.num_oov_indices

    def _depth(self) -> int:
        return self.max_tokens if self.pad_to_max_tokens and self.max_tokens else self.vocabulary_size()

    def _weights(self) -> Any:
        weights = self._table.weights
        return None if weights is None else np.pad(weights, (0, self._depth() - len(weights)))

    def _tokens(self, inputs: Any) -> np.ndarray[Any, Any]:
        array = np.asarray(inputs)
        if not self._is_text:
            return array.astype("int64")
        tokens = np.empty(array.shape, object)
        for place in np.ndindex(array.shape):
            tokens[place] = text_of(array[place])
        return tokens

    def _looked_up(self, tokens: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        first = len(self._special())
        places = np.array([self._place(token, first) for token in tokens.reshape(-1).tolist()], "int64")
        if (unknown := tokens.reshape(-1)[places == _UNKNOWN]).size:
            raise ValueError(OUT_OF_VOCABULARY.format(layer=type(self).__name__, tokens=unknown[:5].tolist()))
        found: np.ndarray[Any, Any] = self._as_output(np, places.reshape(tokens.shape))
        return found

    def _place(self, token: Any, first: int) -> int:
        if self.mask_token is not None and token == self.mask_token:
            return 0 if self.output_mode == "int" else _MASKED
        if token in self._table.places:
            return first + self._table.places[token]
        if self.num_oov_indices == 0:
            return _UNKNOWN
        return first - self.num_oov_indices + self._bucket(token)

    def _bucket(self, token: Any) -> int:
        if self.num_oov_indices == 1:
            return 0
        return int((fingerprint(token.encode()) if self._is_text else token) % self.num_oov_indices)

    def _inverted(self, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        vocabulary = np.array(self.get_vocabulary(), object if self._is_text else "int64")
        known = (places >= 0) & (places < len(vocabulary))
        found = np.where(known, vocabulary[np.where(known, places, 0)], self.oov_token)
        return found if self._is_text else found.astype("int64")

    def _as_output(self, xp: Any, places: Any) -> Any:
        if self.output_mode == "int":
            return places
        return encoded(xp, places, self.output_mode, self._depth(), self._weights())

    def _in_program(self, inputs: Any) -> Any:
        """Numbers by a search in the sorted vocabulary: what a compiled program can do."""
        if self._is_text and not self.invert:
            raise TypeError("Text cannot be looked up inside of a compiled program. Do it in a map of the dataset.")
        vocabulary = np.array(self.get_vocabulary(), "int32") if not self._is_text else None
        if self.invert:
            if vocabulary is None:
                raise TypeError("Text cannot be made inside of a compiled program. Call the layer outside of it.")
            known = (inputs >= 0) & (inputs < len(vocabulary))
            return jnp.where(known, jnp.asarray(vocabulary)[jnp.where(known, inputs, 0)], self.oov_token)
        tokens, first = np.array(self._table.tokens, "int32"), len(self._special())
        order = np.argsort(tokens)
        at = jnp.clip(jnp.searchsorted(jnp.asarray(tokens[order]), inputs), 0, len(tokens) - 1)
        found = jnp.asarray(tokens[order])[at] == inputs
        oov = inputs % max(self.num_oov_indices, 1) + first - self.num_oov_indices
        places = jnp.where(found, jnp.asarray(order)[at] + first, oov)
        if self.mask_token is not None:
            places = jnp.where(inputs == self.mask_token, 0 if self.output_mode == "int" else _MASKED, places)
        return self._as_output(jnp, places)


_MASKED, _UNKNOWN = -1, -2


class _Table:
    """A vocabulary without its special tokens, and the weights of all."""

    def __init__(self, tokens: list[Any], weights: np.ndarray[Any, Any] | None) -> None:
        self.tokens, self.weights = tokens, weights
        self.places = {token: place for place, token in enumerate(tokens)}


@keras.saving.register_keras_serializable(package="unisono")
class StringLookup(_Lookup):
    """Words to whole numbers, their places in a vocabulary, or to vectors.

    >>> layer = StringLookup(vocabulary=["a", "b"])
    >>> layer([["a", "x"], ["b", "a"]]).tolist()
    [[1, 0], [2, 1]]
    """

    _is_text, _default_oov = True, "[UNK]"


@keras.saving.register_keras_serializable(package="unisono")
class IntegerLookup(_Lookup):
    """Whole numbers to their places in a vocabulary, or to vectors.

    >>> IntegerLookup(vocabulary=[12, 36])([[36, 5]]).tolist()
    [[2, 0]]
    """

    _is_text, _default_oov = False, -1
