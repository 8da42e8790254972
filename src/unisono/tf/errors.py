"""`tf.errors`: the classes, by TensorFlow's codes. Those that mean what a Python exception means are one, too."""

from __future__ import annotations

from typing import Final

from unisono.core import CodedError
from unisono.core import OpError as OpError
from unisono.core import OutOfRangeError as OutOfRangeError
from unisono.tf._missing import missing_in as _missing_in

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


class CancelledError(CodedError):
    """Something was called off."""

    code = CANCELLED


class UnknownError(CodedError):
    """Nobody knows more."""

    code = UNKNOWN


class InvalidArgumentError(CodedError, ValueError):
    """A value does not fit."""

    code = INVALID_ARGUMENT


class DeadlineExceededError(CodedError, TimeoutError):
    """It took too long."""

    code = DEADLINE_EXCEEDED


class NotFoundError(CodedError, FileNotFoundError):
    """A file or another thing is not there."""

    code = NOT_FOUND


class AlreadyExistsError(CodedError, FileExistsError):
    """A file or another thing is there already."""

    code = ALREADY_EXISTS


class PermissionDeniedError(CodedError, PermissionError):
    """It may not be done."""

    code = PERMISSION_DENIED


class ResourceExhaustedError(CodedError, MemoryError):
    """There is not enough of something, mostly memory."""

    code = RESOURCE_EXHAUSTED


class FailedPreconditionError(CodedError):
    """Something has to happen first."""

    code = FAILED_PRECONDITION


class AbortedError(CodedError):
    """It was broken off."""

    code = ABORTED


class UnimplementedError(CodedError, NotImplementedError):
    """It is not there."""

    code = UNIMPLEMENTED


class InternalError(CodedError):
    """Something is wrong inside."""

    code = INTERNAL


class UnavailableError(CodedError, ConnectionError):
    """Somebody cannot be reached."""

    code = UNAVAILABLE


class DataLossError(CodedError):
    """Data is damaged."""

    code = DATA_LOSS


class UnauthenticatedError(CodedError):
    """Nobody knows who asks."""

    code = UNAUTHENTICATED


class OperatorNotAllowedInGraphError(TypeError):
    """Python asks for a value that is not there yet."""


__getattr__ = _missing_in("tf.errors")
