"""`tf.errors`: the classes, by TensorFlow's codes. Those that mean what a Python exception means are one, too."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from unisono._src import core as _core
from unisono.tf._missing import explain_missing_names as _explain_missing_names

OK: Final = 0
CANCELLED: Final = 1
UNKNOWN: Final = 2
INVALID_ARGUMENT: Final = 3
DEADLINE_EXCEEDED: Final = 4
NOT_FOUND: Final = 5
ALREADY_EXISTS: Final = 6
PERMISSION_DENIED: Final = 7
RESOURCE_EXHAUSTED: Final = 8
FAILED_PRECONDITION: Final = 9
ABORTED: Final = 10
OUT_OF_RANGE: Final = 11
UNIMPLEMENTED: Final = 12
INTERNAL: Final = 13
UNAVAILABLE: Final = 14
DATA_LOSS: Final = 15
UNAUTHENTICATED: Final = 16


class OpError(Exception):
    """The base of all of them. ``node_def`` and ``op`` are TensorFlow's, and None here.

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


class _CodedError(OpError):
    """An error whose class says its code. Only subclasses are raised."""

    code: ClassVar[int]

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, self.code, *args)

    def __reduce__(self) -> Any:
        return type(self), (self.node_def, self.op, self.message)


class CancelledError(_CodedError):
    """Something was called off."""

    code = CANCELLED


class UnknownError(_CodedError):
    """Nobody knows more."""

    code = UNKNOWN


class InvalidArgumentError(_CodedError, ValueError):
    """A value does not fit."""

    code = INVALID_ARGUMENT


class DeadlineExceededError(_CodedError, TimeoutError):
    """It took too long."""

    code = DEADLINE_EXCEEDED


class NotFoundError(_CodedError, FileNotFoundError):
    """A file or another thing is not there."""

    code = NOT_FOUND


class AlreadyExistsError(_CodedError, FileExistsError):
    """A file or another thing is there already."""

    code = ALREADY_EXISTS


class PermissionDeniedError(_CodedError, PermissionError):
    """It may not be done."""

    code = PERMISSION_DENIED


class ResourceExhaustedError(_CodedError, MemoryError):
    """There is not enough of something, mostly memory."""

    code = RESOURCE_EXHAUSTED


class FailedPreconditionError(_CodedError):
    """Something has to happen first."""

    code = FAILED_PRECONDITION


class AbortedError(_CodedError):
    """It was broken off."""

    code = ABORTED


class OutOfRangeError(_CodedError, _core.OutOfRangeError):
    """Data has ended. It is what datasets raise, once the namespace has been imported."""

    code = OUT_OF_RANGE


class UnimplementedError(_CodedError, NotImplementedError):
    """It is not there."""

    code = UNIMPLEMENTED


class InternalError(_CodedError):
    """Something is wrong inside."""

    code = INTERNAL


class UnavailableError(_CodedError, ConnectionError):
    """Somebody cannot be reached."""

    code = UNAVAILABLE


class DataLossError(_CodedError):
    """Data is damaged."""

    code = DATA_LOSS


class UnauthenticatedError(_CodedError):
    """Nobody knows who asks."""

    code = UNAUTHENTICATED


class OperatorNotAllowedInGraphError(TypeError):
    """Python asks for a value that is not there yet."""


__getattr__ = _explain_missing_names("tf.errors")
