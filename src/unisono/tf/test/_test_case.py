"""`tf.test.TestCase`: a `unittest.TestCase` with assertions about arrays."""
# ruff: noqa: N802, PT009, PT027  (the naming style of unittest)

from __future__ import annotations

import shutil
import sys
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
from unisono.tf.test._benchmark import run_benchmarks

_NO_SESSION = "there are no sessions: execution is eager. Compare the values directly."


class TestCase(unittest.TestCase):
    """A test case with assertions about arrays and dicts of arrays.

    ```python
    class SquareTest(tf.test.TestCase):
        def test_square(self):
            self.assertAllEqual(tf.square([2, 3]), [4, 9])
    ```
    """

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Raises AssertionError unless `abs(a - b) <= atol + rtol * abs(b)` for all elements."""
        for first, second in self._pairs(a, b, msg):
            np.testing.assert_allclose(first, second, rtol=rtol, atol=atol, err_msg=msg or "")

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Raises AssertionError unless all elements are equal."""
        for first, second in self._pairs(a, b, msg):
            np.testing.assert_array_equal(first, second, err_msg=msg or "", strict=False)

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Raises AssertionError if all elements are equal."""
        if all(np.array_equal(first, second) for first, second in self._pairs(a, b, msg)):
            raise AssertionError(msg or f"All elements are equal: {a!r} and {b!r}.")

    def assertNotAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Raises AssertionError if `abs(a - b) <= atol + rtol * abs(b)` for all elements."""
        if all(np.allclose(first, second, rtol, atol) for first, second in self._pairs(a, b, msg)):
            raise AssertionError(msg or f"All elements are close: {a!r} and {b!r}.")

    def assertNear(self, f1: Any, f2: Any, err: float, msg: str | None = None) -> None:
        """Raises AssertionError unless two numbers differ by at most ``err``."""
        self.assertAllClose(f1, f2, rtol=0.0, atol=err, msg=msg)

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Raises AssertionError unless all elements are greater."""
        self._assert_all(_to_numpy(a) > comparison_target, a, f"> {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Raises AssertionError unless all elements are less."""
        self._assert_all(_to_numpy(a) < comparison_target, a, f"< {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Raises AssertionError unless all elements are greater or equal."""
        self._assert_all(_to_numpy(a) >= comparison_target, a, f">= {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Raises AssertionError unless all elements are less or equal."""
        self._assert_all(_to_numpy(a) <= comparison_target, a, f"<= {comparison_target}")

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: float,
        upper_bound: float,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Raises AssertionError unless all elements are between the bounds."""
        array = _to_numpy(target)
        above = array > lower_bound if open_lower_bound else array >= lower_bound
        below = array < upper_bound if open_upper_bound else array <= upper_bound
        self._assert_all(above & below, target, f"between {lower_bound} and {upper_bound}")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Raises AssertionError unless all elements are in the set."""
        self._assert_all(np.isin(_to_numpy(target), list(expected_set)), target, f"in {expected_set}")

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Raises AssertionError unless both have the same shape."""
        self.assertEqual(tuple(_to_numpy(input_a).shape), tuple(_to_numpy(input_b).shape), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Raises AssertionError unless the array has this dtype."""
        self.assertEqual(_to_numpy(target).dtype, np.dtype(expected_dtype))

    def assertLen(self, container: Any, expected_len: int, msg: str | None = None) -> None:
        """Raises AssertionError unless the container has this length."""
        self.assertEqual(len(container), expected_len, msg)

    def assertEmpty(self, container: Any, msg: str | None = None) -> None:
        """Raises AssertionError unless the container is empty."""
        self.assertLen(container, 0, msg)

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Returns a context manager that expects an error of `tf.errors` whose message matches."""
        return self.assertRaisesRegex(OpError, expected_err_re_or_predicate)

    def evaluate(self, tensors: Any) -> Any:
        """Returns the values as NumPy arrays and scalars."""
        return map_leaves(lambda leaf: leaf if leaf is None else _to_numpy(leaf)[()], tensors)

    def get_temp_dir(self) -> str:
        """Creates a folder that is deleted after the test."""
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
            yield _to_numpy(a), _to_numpy(b)

    def _assert_all(self, is_true: Any, target: Any, condition: str) -> None:
        if not np.all(is_true):
            raise AssertionError(f"Not all elements are {condition}: {_to_numpy(target)!r}.")


def main(argv: Any = None) -> Any:
    """Runs the tests of the main module, as `unittest.main`; the benchmarks if there is an argument `--benchmarks=`."""
    return None if run_benchmarks(argv or sys.argv) else unittest.main(argv=argv)


def _to_numpy(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, keras.Variable):
        value = value.value
    if isinstance(value, list | tuple) and any(isinstance(each, jax.Array | keras.Variable) for each in value):
        value = [np.asarray(_to_numpy(each)) for each in value]
    return np.asarray(value)
