"""`input_signature`: converts arguments to the shapes and dtypes that a function was declared with."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from unisono._src.data.dataset import TensorSpec
from unisono._src.data.plans import CompositeSpec
from unisono._src.replicas.values import PerReplica

NOT_FITTING = """The arguments do not fit the input_signature of {function}.
  expected: {expected}
  got:      {got}"""


def fit_to_signature(signature: Any, args: tuple[Any, ...], function: str) -> tuple[Any, ...]:
    """``args`` as arrays of the shapes and dtypes in ``signature``; an error if theirs differ."""
    tree: Any
    specs, tree = jax.tree.flatten(tuple(signature), is_leaf=lambda leaf: isinstance(leaf, TensorSpec))
    try:
        leaves = tree.flatten_up_to(tuple(args))
    except ValueError:
        raise TypeError(NOT_FITTING.format(function=function, expected=signature, got=args)) from None
    return jax.tree.unflatten(tree, [_fit_leaf(*pair, function) for pair in zip(specs, leaves, strict=True)])  # type: ignore[no-any-return]


def _fit_leaf(spec: Any, leaf: Any, function: str) -> Any:
    if isinstance(leaf, PerReplica):
        return leaf
    if isinstance(spec, CompositeSpec):
        return spec.check(leaf, f"An argument of {function}")
    array = leaf
    if not isinstance(leaf, jax.Array | np.ndarray):
        array = np.asarray(leaf)
        if np.can_cast(array.dtype, spec.dtype, "same_kind"):
            array = array.astype(spec.dtype)  # a Python number has no dtype
    dtype = jax.dtypes.canonicalize_dtype(spec.dtype)
    has_rank = getattr(spec.shape, "rank", 0) is not None
    same_shape = len(array.shape) == len(spec.shape) and all(
        expected in (None, found) for expected, found in zip(spec.shape, array.shape, strict=True)
    )
    if (has_rank and not same_shape) or jax.dtypes.canonicalize_dtype(array.dtype) != dtype:
        got = TensorSpec(array.shape, array.dtype)
        raise TypeError(NOT_FITTING.format(function=function, expected=spec, got=got))
    return array
