"""Members of Keras 2's classes that are gone: reading them says what to write instead."""

from __future__ import annotations

from typing import Any

from unisono.tf._missing import MissingNameError


class Gone:
    """A descriptor that raises. An attribute of the same name that a user sets on an object is found before it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        raise MissingNameError(self._text)
