"""Wrong arguments raise one error that is a TypeError, a ValueError and an InvalidArgumentError, as scripts expect."""

import pickle
from collections.abc import Callable
from typing import Any

import jax
import pytest

import unisono.tf as tf
from unisono.tf._argument_error import ArgumentError, to_argument_error
from unisono.tf._op import op

CALLS: dict[str, Callable[[], Any]] = {
    "matmul": lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
    "reshape": lambda: tf.reshape(tf.ones([4]), [3]),
    "concat": lambda: tf.concat([tf.ones([2, 3]), tf.ones([2, 2])], axis=0),
    "add": lambda: tf.add(tf.ones([2]), tf.ones([3])),
    "in a function": lambda: tf.function(lambda x: tf.reshape(x, [3]))(tf.ones([4])),
}


@pytest.mark.parametrize("kind", [tf.errors.InvalidArgumentError, ValueError, TypeError])
@pytest.mark.parametrize("call", CALLS)
def test_each_of_the_three_errors_catches_it(call: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="shape") as caught:
        CALLS[call]()
    assert caught.value.__cause__ is None
    assert caught.traceback[-1].path.name not in ("_op.py", "_argument_error.py")  # it shows where it came from


def test_in_a_layer_the_error_keeps_its_type() -> None:
    class Reshaping(tf.keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return tf.reshape(x, [3])

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Reshaping.*into shape \(3,\)"):
        Reshaping()(tf.ones([4]))


def test_more_specific_errors_keep_their_type() -> None:
    @op
    def of_a_known_number(x: Any) -> Any:
        return tf.ones([int(x)])

    with pytest.raises(jax.errors.ConcretizationTypeError) as caught:
        jax.jit(of_a_known_number)(1)
    assert not isinstance(caught.value, ArgumentError)


def test_it_has_the_constructors_of_tensorflow_and_keras() -> None:
    for error in (ArgumentError(None, None, "why"), ArgumentError("why")):
        again = pickle.loads(pickle.dumps(error))
        assert (again.message, again.error_code, str(again)) == ("why", tf.errors.INVALID_ARGUMENT, "why")


def test_notes_are_kept() -> None:
    error = ValueError("why")
    error.add_note("where")
    assert to_argument_error(error).__notes__ == ["where"]
