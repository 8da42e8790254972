"""`tf.errors`: TensorFlow's error classes and codes. Those with a matching Python exception derive from it, too."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from unisono._src import core as _core
from unisono._src import parameter_servers as _parameter_servers
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
    """The base class. ``node_def`` and ``op`` are part of TensorFlow's signature, and None here.

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
    """An error whose class determines its code. Only subclasses are raised."""

    code: ClassVar[int]

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, self.code, *args)

    def __reduce__(self) -> Any:
        return type(self), (self.node_def, self.op, self.message)


class CancelledError(_CodedError, _parameter_servers.ClosureCancelledError):
    """An operation was cancelled."""

    code = CANCELLED


class UnknownError(_CodedError):
    """An error without a more specific class."""

    code = UNKNOWN


class InvalidArgumentError(_CodedError, ValueError):
    """An argument is invalid."""

    code = INVALID_ARGUMENT


class DeadlineExceededError(_CodedError, TimeoutError):
    """A time limit was exceeded."""

    code = DEADLINE_EXCEEDED


class NotFoundError(_CodedError, FileNotFoundError):
    """A file or another resource does not exist."""

    code = NOT_FOUND


class AlreadyExistsError(_CodedError, FileExistsError):
    """A file or another resource exists already."""

    code = ALREADY_EXISTS


class PermissionDeniedError(_CodedError, PermissionError):
    """The permission is missing."""

    code = PERMISSION_DENIED


class ResourceExhaustedError(_CodedError, MemoryError):
    """A resource, usually memory, is exhausted."""

    code = RESOURCE_EXHAUSTED


class FailedPreconditionError(_CodedError):
    """The object is not in the required state."""

    code = FAILED_PRECONDITION


class AbortedError(_CodedError):
    """An operation was aborted."""

    code = ABORTED


class OutOfRangeError(_CodedError, _core.OutOfRangeError):
    """The end of the data. Datasets raise it once the namespace has been imported."""

    code = OUT_OF_RANGE


class UnimplementedError(_CodedError, NotImplementedError):
    """The operation is not implemented."""

    code = UNIMPLEMENTED


class InternalError(_CodedError):
    """An internal invariant is broken."""

    code = INTERNAL


class UnavailableError(_CodedError, ConnectionError):
    """A service or a peer cannot be reached."""

    code = UNAVAILABLE


class DataLossError(_CodedError):
    """Data is lost or corrupt."""

    code = DATA_LOSS


class UnauthenticatedError(_CodedError):
    """The credentials are missing or invalid."""

    code = UNAUTHENTICATED


class OperatorNotAllowedInGraphError(TypeError):
    """Python code needs a traced value, which is known only at run time."""


__getattr__ = _explain_missing_names("tf.errors")
