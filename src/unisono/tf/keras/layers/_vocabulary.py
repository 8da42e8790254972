"""Vocabularies of lookup layers, on the host: reading and checking them, and counting tokens."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

REPEATED = "The vocabulary contains {tokens} more than once. Expected distinct tokens."

TOO_LARGE = "The vocabulary has {number} entries, reserved ones included. Expected at most max_tokens={maximum}."

EMPTY = "The vocabulary is empty. Pass one to the layer, or call adapt()."


def to_text(token: Any) -> str:
    """Converts a token, which may be a scalar array or bytes, to text."""
    token = token.item() if isinstance(token, np.ndarray) else token
    return token.decode() if isinstance(token, bytes) else str(token)


def read_tokens(vocabulary: Any, is_text: bool) -> list[Any]:
    """Reads the tokens of a vocabulary: a sequence, an array, or the path of a file with one on each line."""
    if isinstance(vocabulary, str | Path):
        vocabulary = Path(vocabulary).read_text().splitlines()
    listed = np.asarray(vocabulary).tolist()
    return [to_text(token) for token in listed] if is_text else [int(token) for token in listed]


def check_tokens(tokens: Sequence[Any], num_reserved: int, maximum: int | None) -> list[Any]:
    """Raises ValueError if tokens are repeated, missing or too many; returns them."""
    if not tokens:
        raise ValueError(EMPTY)
    repeated = [token for token, count in collections.Counter(tokens).items() if count > 1]
    if repeated:
        raise ValueError(REPEATED.format(tokens=repeated[:5]))
    if maximum is not None and num_reserved + len(tokens) > maximum:
        raise ValueError(TOO_LARGE.format(number=num_reserved + len(tokens), maximum=maximum))
    return list(tokens)


class TokenCounts:
    """Counts tokens, and the documents that contain them."""

    def __init__(self) -> None:
        self._tokens: collections.Counter[Any] = collections.Counter()
        self._documents: collections.Counter[Any] = collections.Counter()
        self._num_documents = 0

    def add(self, documents: Iterable[Iterable[Any]]) -> None:
        """Counts documents, each a row of tokens."""
        for document in documents:
            tokens = list(document)
            self._tokens.update(tokens)
            self._documents.update(set(tokens))
            self._num_documents += 1

    def most_frequent(self, maximum: int | None, excluded: Sequence[Any]) -> list[Any]:
        """The tokens by descending frequency; among equals by descending order, as in TensorFlow."""
        found = [token for token in self._tokens if token not in excluded]
        found.sort(reverse=True)
        found.sort(key=lambda token: -self._tokens[token])
        return found[:maximum]

    def idf_weights(self, tokens: Sequence[Any]) -> np.ndarray[Any, Any]:
        """The inverse document frequency of each token."""
        num_containing = np.array([self._documents[token] for token in tokens])
        return np.log(1 + self._num_documents / (1 + num_containing)).astype("float32")
