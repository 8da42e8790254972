"""`tf.errors`: TensorFlow's classes and codes, that are Python's exceptions where these mean the same."""

import pickle

import pytest

import unisono.tf as tf
from unisono._src.core import OutOfRangeError

_KINDS = [
    (tf.errors.AbortedError, tf.errors.ABORTED, 10, Exception),
    (tf.errors.AlreadyExistsError, tf.errors.ALREADY_EXISTS, 6, FileExistsError),
    (tf.errors.CancelledError, tf.errors.CANCELLED, 1, Exception),
    (tf.errors.DataLossError, tf.errors.DATA_LOSS, 15, Exception),
    (tf.errors.DeadlineExceededError, tf.errors.DEADLINE_EXCEEDED, 4, TimeoutError),
    (tf.errors.FailedPreconditionError, tf.errors.FAILED_PRECONDITION, 9, Exception),
    (tf.errors.InternalError, tf.errors.INTERNAL, 13, Exception),
    (tf.errors.InvalidArgumentError, tf.errors.INVALID_ARGUMENT, 3, ValueError),
    (tf.errors.NotFoundError, tf.errors.NOT_FOUND, 5, FileNotFoundError),
    (tf.errors.OutOfRangeError, tf.errors.OUT_OF_RANGE, 11, OutOfRangeError),
    (tf.errors.PermissionDeniedError, tf.errors.PERMISSION_DENIED, 7, PermissionError),
    (tf.errors.ResourceExhaustedError, tf.errors.RESOURCE_EXHAUSTED, 8, MemoryError),
    (tf.errors.UnauthenticatedError, tf.errors.UNAUTHENTICATED, 16, Exception),
    (tf.errors.UnavailableError, tf.errors.UNAVAILABLE, 14, ConnectionError),
    (tf.errors.UnimplementedError, tf.errors.UNIMPLEMENTED, 12, NotImplementedError),
    (tf.errors.UnknownError, tf.errors.UNKNOWN, 2, Exception),
]


@pytest.mark.parametrize(("kind", "code", "number", "python"), _KINDS)
def test_each_class_has_its_code_and_is_what_python_calls_it(
    kind: type[Exception], code: int, number: int, python: type[Exception]
) -> None:
    error = kind(None, None, "why")
    assert isinstance(error, tf.errors.OpError)
    assert isinstance(error, python)
    assert (error.error_code, code) == (number, number)
    assert (error.node_def, error.op, error.message, str(error)) == (None, None, "why", "why")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.error_code, str(again)) == (kind, number, "why")


def test_the_other_names_exist() -> None:
    assert tf.errors.OK == 0
    assert tf.errors.OpError(None, None, "why", 2).error_code == 2
    assert issubclass(tf.errors.OperatorNotAllowedInGraphError, TypeError)
    with pytest.raises(AttributeError, match=r"tf\.errors\.NoSuchError is not available"):
        _ = tf.errors.NoSuchError
