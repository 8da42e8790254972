"""`unisono.remat`: blocks of a model that are computed again for the gradient, with a policy of what is saved."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, overload

import jax
import keras

from unisono._src.keras_hooks import BlockMode, set_block_mode
from unisono._src.tracing.functions._rematerialize import rematerialize

_T = TypeVar("_T")

Policy = str | Sequence[str] | Callable[..., Any]

_POLICIES: Final[dict[str, Callable[..., Any]]] = {
    "nothing": jax.checkpoint_policies.nothing_saveable,
    "dots": jax.checkpoint_policies.dots_saveable,
    "dots_no_batch": jax.checkpoint_policies.dots_with_no_batch_dims_saveable,
}

UNKNOWN_POLICY = """unisono.remat got policy={policy!r}. A policy is one of {names}, a list of names that
jax.ad_checkpoint.checkpoint_name gave to values, or a function of jax.checkpoint_policies."""

NOT_A_BLOCK = """unisono.remat got {given!r}, which is not a layer or a function. For all layers that are made or called
in a block:
    with unisono.remat(policy="dots"):
        x = block(x)"""

A_CLASS = """unisono.remat got the class {name}. Give it a layer, unisono.remat({name}(...)), or decorate the method
`call` of the class with @unisono.remat."""

SYMBOLIC = """The function {name!r}, which is computed again for its gradient, was called with a symbolic input of a
functional model. There, blocks are layers or models: make one of it, and call that in the block:
    block = keras.Model(inputs, {name}(inputs))
    with unisono.remat(policy=...):
        x = block(x)"""


class RematBlocks(keras.RematScope):
    """What `unisono.remat` returns without a layer: a context manager and a decorator."""

    def __init__(self, policy: Policy) -> None:
        self._policy_name, self._policy = _find_policy(policy)
        super().__init__(BlockMode.make(self._policy_name, self._policy, "made"))

    def __call__(self, target: Any) -> Any:
        """``target``, a layer or a function, as one block."""
        if isinstance(target, keras.Layer):
            set_block_mode(target, BlockMode.make(self._policy_name, self._policy, "given"))
            return target
        if isinstance(target, type):
            raise TypeError(A_CLASS.format(name=target.__name__))
        if not callable(target):
            raise TypeError(NOT_A_BLOCK.format(given=target))
        block = rematerialize(target, self._policy)

        @functools.wraps(target)
        def call(*args: Any, **kwargs: Any) -> Any:
            if any(isinstance(leaf, keras.KerasTensor) for leaf in jax.tree.leaves((args, kwargs))):
                raise TypeError(SYMBOLIC.format(name=getattr(target, "__name__", "function")))
            return block(*args, **kwargs)

        return call


@overload
def remat(target: None = None, /, *, policy: Policy = "nothing") -> RematBlocks: ...


@overload
def remat(target: _T, /, *, policy: Policy = "nothing") -> _T: ...


def remat(target: Any = None, /, *, policy: Policy = "nothing") -> Any:
    """Recomputes blocks of a model for the gradient, so that their intermediate values do not need memory.

    Without a policy, only the inputs of a block are kept. The result of training is the same as without `remat`, bit
    for bit or up to the order of sums: dropout draws the same numbers again, and batch normalization is updated once.

    In a `with` statement, every layer that is created or called there is one block, including the layers inside it. A
    model that is created there is not one block, but each of its layers is:

    >>> import keras, unisono
    >>> inputs = keras.Input((8,))
    >>> with unisono.remat(policy="dots"):
    ...     x = keras.layers.Dense(32, activation="gelu")(inputs)
    >>> model = keras.Model(inputs, keras.layers.Dense(1)(x))

    You can also pass a layer, a model or a function; `remat` is then a wrapper or a decorator:

    >>> block = unisono.remat(keras.Sequential([keras.layers.Dense(32), keras.layers.Dense(8)]))
    >>> @unisono.remat(policy="dots_no_batch")
    ... def feed_forward(x):
    ...     return keras.ops.gelu(x) ** 2

    Args:
        target: a layer, a model or a function. A layer or model is changed and returned; a function is wrapped.
        policy: which intermediate values are kept in addition to the inputs: "nothing", "dots" (results of matrix
            products), "dots_no_batch" (results of dense layers, but not of attention), a list of names given with
            `jax.ad_checkpoint.checkpoint_name`, or a function such as those in `jax.checkpoint_policies`.
    """
    blocks = RematBlocks(policy)
    return blocks if target is None else blocks(target)


def _find_policy(policy: Policy) -> tuple[str, Callable[..., Any]]:
    """The policy in words, and the function for JAX."""
    if isinstance(policy, str) and policy in _POLICIES:
        return policy, _POLICIES[policy]
    if isinstance(policy, list | tuple) and policy and all(isinstance(name, str) for name in policy):
        return f"names {', '.join(policy)}", jax.checkpoint_policies.save_only_these_names(*policy)
    if callable(policy) and not inspect.isclass(policy):
        return getattr(policy, "__name__", type(policy).__name__), policy
    raise ValueError(UNKNOWN_POLICY.format(policy=policy, names=", ".join(map(repr, _POLICIES))))
