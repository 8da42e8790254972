"""`tf.test.TestCase`: a test case of Python's that compares arrays."""
# ruff: noqa: N802, PT009, PT027  (names and ways of unittest)

from __future__ import annotations

import shutil
import tempfile
import unittest
from collections.abc import Iterator
from typing import Any

import jax
import keras
import numpy as np

from unisono._src.data.plans import map_leaves
from unisono.tf._unsupported import unsupported_function
from unisono.tf.errors import OpError

_NO_SESSION = "there are no sessions; values are there when they are computed: compare them directly."


class TestCase(unittest.TestCase):
    """Compares arrays, alone or in lists and dicts.

    ```python
    class SquareTest(tf.test.TestCase):
        def test_square(self):
            self.assertAllEqual(tf.square([2, 3]), [4, 9])
    ```
    """

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Raises AssertionError unless both are equal up to atol + rtol * abs(b)."""
        for one, two in self._pairs(a, b, msg):
            np.testing.assert_allclose(one, two, rtol=rtol, atol=atol, err_msg=msg or "")

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Raises AssertionError unless both are equal."""
        for one, two in self._pairs(a, b, msg):
            np.testing.assert_array_equal(one, two, err_msg=msg or "", strict=False)

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Raises AssertionError if both are equal."""
        if all(np.array_equal(one, two) for one, two in self._pairs(a, b, msg)):
            raise AssertionError(msg or f"These are equal: {a!r} and {b!r}.")

    def assertNotAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Raises AssertionError if both are equal up to atol + rtol * abs(b)."""
        if all(np.allclose(one, two, rtol, atol) for one, two in self._pairs(a, b, msg)):
            raise AssertionError(msg or f"These are close to each other: {a!r} and {b!r}.")

    def assertNear(self, f1: Any, f2: Any, err: float, msg: str | None = None) -> None:
        """Raises AssertionError unless two numbers differ by at most ``err``."""
        self.assertAllClose(f1, f2, rtol=0.0, atol=err, msg=msg)

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Raises AssertionError unless all are greater."""
        self._all(_array(a) > comparison_target, a, f"> {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Raises AssertionError unless all are less."""
        self._all(_array(a) < comparison_target, a, f"< {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Raises AssertionError unless all are greater or equal."""
        self._all(_array(a) >= comparison_target, a, f">= {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Raises AssertionError unless all are less or equal."""
        self._all(_array(a) <= comparison_target, a, f"<= {comparison_target}")

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: float,
        upper_bound: float,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Raises AssertionError unless all are between the bounds."""
        array = _array(target)
        above = array > lower_bound if open_lower_bound else array >= lower_bound
        below = array < upper_bound if open_upper_bound else array <= upper_bound
        self._all(above & below, target, f"between {lower_bound} and {upper_bound}")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Raises AssertionError unless all are in the set."""
        self._all(np.isin(_array(target), list(expected_set)), target, f"in {expected_set}")

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Raises AssertionError unless both have one shape."""
        self.assertEqual(tuple(_array(input_a).shape), tuple(_array(input_b).shape), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Raises AssertionError unless it has this dtype."""
        self.assertEqual(_array(target).dtype, np.dtype(expected_dtype))

    def assertLen(self, container: Any, expected_len: int, msg: str | None = None) -> None:
        """Raises AssertionError unless there are so many in it."""
        self.assertEqual(len(container), expected_len, msg)

    def assertEmpty(self, container: Any, msg: str | None = None) -> None:
        """Raises AssertionError unless there is nothing in it."""
        self.assertLen(container, 0, msg)

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """A context in which one of `tf.errors` has to be raised, with this in its message."""
        return self.assertRaisesRegex(OpError, expected_err_re_or_predicate)

    def evaluate(self, tensors: Any) -> Any:
        """The values as NumPy has them."""
        return map_leaves(lambda leaf: leaf if leaf is None else _array(leaf)[()], tensors)

    def get_temp_dir(self) -> str:
        """A folder that is deleted after the test."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    session = unsupported_function("tf.test.TestCase.session", _NO_SESSION)
    cached_session = unsupported_function("tf.test.TestCase.cached_session", _NO_SESSION)

    def _pairs(self, a: Any, b: Any, msg: str | None) -> Iterator[tuple[Any, Any]]:
        if isinstance(a, dict) or isinstance(b, dict):
            self.assertIsInstance(a, dict, msg)
            self.assertEqual(set(a), set(b), msg)
            for key in a:
                yield from self._pairs(a[key], b[key], msg)
        else:
            yield _array(a), _array(b)

    def _all(self, holds: Any, target: Any, condition: str) -> None:
        if not np.all(holds):
            raise AssertionError(f"Not all are {condition}: {_array(target)!r}.")


def main(argv: Any = None) -> Any:
    """Runs the tests of the module that is the program."""
    return unittest.main(argv=argv)


def _array(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, keras.Variable):
        value = value.value
    if isinstance(value, list | tuple) and any(isinstance(each, jax.Array | keras.Variable) for each in value):
        value = [np.asarray(_array(each)) for each in value]
    return np.asarray(value)
