"""`tf.train.experimental.PythonState`: a Python object that is stored in checkpoints."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod


class PythonState(ABC):
    """An object that serializes itself as text or bytes.

    >>> class Words(PythonState):
    ...     def __init__(self):
    ...         self.words = []
    ...     def serialize(self):
    ...         return " ".join(self.words)
    ...     def deserialize(self, string_value):
    ...         self.words = string_value.split()
    >>> words = Words()
    >>> words.set_state({"text": "a b"})
    >>> words.words, words.get_state()
    (['a', 'b'], {'text': 'a b'})
    """

    @abstractmethod
    def serialize(self) -> str | bytes:
        """The state to store."""

    @abstractmethod
    def deserialize(self, string_value: str | bytes) -> None:
        """Restores the state."""

    def get_state(self) -> dict[str, str]:
        """The state as JSON, for a checkpoint."""
        value = self.serialize()
        return {"text": value} if isinstance(value, str) else {"base64": base64.b64encode(value).decode()}

    def set_state(self, state: dict[str, str]) -> None:
        """Restores the state from a checkpoint."""
        self.deserialize(state["text"] if "text" in state else base64.b64decode(state["base64"]))
