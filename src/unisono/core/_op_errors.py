"""The errors that scripts for TensorFlow wait for: their base, and the one at the end of data."""

from __future__ import annotations

from typing import Any, ClassVar


class OpError(Exception):
    """The base of what `tf.errors` has. ``node_def`` and ``op`` are TensorFlow's, and None here.

    >>> OpError(None, None, "the file is gone", 5).message
    'the file is gone'
    """

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int, *args: Any) -> None:
        super().__init__(message, *args)
        self.node_def, self.op, self.message, self.error_code = node_def, op, message, error_code

    def __str__(self) -> str:
        return str(self.message)

    def __reduce__(self) -> Any:
        return type(self), (self.node_def, self.op, self.message, self.error_code)


class CodedError(OpError):
    """An error whose class says its code. Only subclasses are raised."""

    code: ClassVar[int]

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, self.code, *args)

    def __reduce__(self) -> Any:
        return type(self), (self.node_def, self.op, self.message)


class OutOfRangeError(CodedError):
    """`get_next` was called at the end of the data."""

    code = 11
