"""Words or numbers and their places: what lookup layers are made of, on the host."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

REPEATED = "The vocabulary has {tokens} more than once. Each may be there once."

TOO_LARGE = "The vocabulary has {number} entries with those that are reserved, and max_tokens is {most}."

EMPTY = "The vocabulary is empty. Give the layer one, or let it find its own by adapt()."


def text_of(token: Any) -> str:
    """A token as text: also one that a function of the namespace made, an array without dims."""
    token = token.item() if isinstance(token, np.ndarray) else token
    return token.decode() if isinstance(token, bytes) else str(token)


def tokens_in(vocabulary: Any, is_text: bool) -> list[Any]:
    """The entries of a vocabulary: a sequence, an array, or the path of a file with one on each line."""
    if isinstance(vocabulary, str | Path):
        vocabulary = Path(vocabulary).read_text().splitlines()
    listed = np.asarray(vocabulary).tolist()
    return [text_of(token) for token in listed] if is_text else [int(token) for token in listed]


def checked(tokens: Sequence[Any], reserved: int, most: int | None) -> list[Any]:
    """The same, if each is there once and they are not too many."""
    if not tokens:
        raise ValueError(EMPTY)
    repeated = [token for token, count in collections.Counter(tokens).items() if count > 1]
    if repeated:
        raise ValueError(REPEATED.format(tokens=repeated[:5]))
    if most is not None and reserved + len(tokens) > most:
        raise ValueError(TOO_LARGE.format(number=reserved + len(tokens), most=most))
    return list(tokens)


class Counts:
    """How often tokens were seen, and in how many documents."""

    def __init__(self) -> None:
        self._tokens: collections.Counter[Any] = collections.Counter()
        self._documents: collections.Counter[Any] = collections.Counter()
        self._num_documents = 0

    def add(self, documents: Iterable[Iterable[Any]]) -> None:
        """Adds documents, each a row of tokens."""
        for document in documents:
            tokens = list(document)
            self._tokens.update(tokens)
            self._documents.update(set(tokens))
            self._num_documents += 1

    def most_frequent(self, most: int | None, without: Sequence[Any]) -> list[Any]:
        """The tokens, the most frequent first; among equals the one that sorts last, as in TensorFlow."""
        found = [token for token in self._tokens if token not in without]
        found.sort(reverse=True)
        found.sort(key=lambda token: -self._tokens[token])
        return found[:most]

    def idf_weights(self, tokens: Sequence[Any]) -> np.ndarray[Any, Any]:
        """How telling each token is: the fewer documents have it, the more."""
        having = np.array([self._documents[token] for token in tokens])
        return np.log(1 + self._num_documents / (1 + having)).astype("float32")
