"""What all protobuf messages have in common, for users."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any, Self

from unisono._src.data.files._text_format import text_format


class Message(ABC):
    """A message of the wire format; subclasses are dataclasses whose fields have the names of the message's."""

    @abstractmethod
    def _serialized(self) -> bytes:
        """The bytes of the message."""

    @classmethod
    @abstractmethod
    def FromString(cls, serialized: bytes) -> Self:  # noqa: N802 (protobuf's names, here and below)
        """The message that these bytes are."""

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The bytes to write into a file. Equal messages give equal bytes: names are sorted."""
        del deterministic
        return self._serialized()

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Becomes the message that these bytes are; returns how many they are."""
        self.CopyFrom(self.FromString(serialized))
        return len(serialized)

    def MergeFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Takes what these bytes say to what is there: lists become longer, and names get new values."""
        # One message behind the other is their merger: that is how the format is made.
        self.CopyFrom(self.FromString(self._serialized() + bytes(serialized)))
        return len(serialized)

    def MergeFrom(self, other: Self) -> None:  # noqa: N802
        """The same with a message."""
        self.MergeFromString(other._serialized())

    def CopyFrom(self, other: Self) -> None:  # noqa: N802
        """Becomes equal to another message."""
        self.__dict__.update(type(self).FromString(other._serialized()).__dict__)

    def Clear(self) -> None:  # noqa: N802
        """Becomes empty."""
        self.CopyFrom(type(self)())

    def ByteSize(self) -> int:  # noqa: N802
        """How many bytes it has when it is serialized."""
        return len(self._serialized())

    def HasField(self, field_name: str) -> bool:  # noqa: N802
        """Whether a field that is a message has something in it."""
        names = [field.name for field in dataclasses.fields(self) if field.repr]  # type: ignore[arg-type]
        if field_name not in names:
            raise ValueError(f"{type(self).__name__} has no field {field_name!r}. It has: {', '.join(names)}.")
        value: Any = getattr(self, field_name)
        if not isinstance(value, Message):
            raise ValueError(f"{type(self).__name__}.{field_name} is a list or a map: ask for its len().")
        return bool(value._serialized())

    def __str__(self) -> str:
        return text_format(self)
