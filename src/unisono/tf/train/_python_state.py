"""`tf.train.experimental.PythonState`: an object of Python's that is stored with a checkpoint."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod


class PythonState(ABC):
    """An object that writes itself as text or bytes, and reads that again.

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
        """All that is to be stored."""

    @abstractmethod
    def deserialize(self, string_value: str | bytes) -> None:
        """Becomes what was stored."""

    def get_state(self) -> dict[str, str]:
        """What a checkpoint stores."""
        value = self.serialize()
        return {"text": value} if isinstance(value, str) else {"base64": base64.b64encode(value).decode()}

    def set_state(self, state: dict[str, str]) -> None:
        """Becomes what a checkpoint has stored."""
        self.deserialize(state["text"] if "text" in state else base64.b64decode(state["base64"]))
