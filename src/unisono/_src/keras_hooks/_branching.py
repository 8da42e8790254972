"""Hook: `keras.ops.cond` whose branches assign variables, as those of `LossScaleOptimizer` do.

Checked against Keras 3.15.1: all of Keras reaches `backend.jax.core.cond`, which is `jax.lax.cond`; what a branch
assigns would be lost with its trace.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from keras.src.backend import jax as keras_jax
from keras.src.backend.common.stateless_scope import get_stateless_scope

from unisono._src.jax_hooks._traces import is_evaluating
from unisono._src.keras_hooks._variables import StateScope


def route_branches(ours: Callable[[StateScope, Any, Any, Any], Any]) -> None:
    """Installs the hook: inside one of our scopes, ``ours(scope, predicate, true_fn, false_fn)`` is called.

    Where operations are carried out one by one, the predicate is known, and Python chooses.
    """
    original = keras_jax.core.cond

    @functools.wraps(original)
    def cond(pred: Any, true_fn: Any, false_fn: Any) -> Any:
        scope = get_stateless_scope()
        if isinstance(scope, StateScope):
            return ours(scope, pred, true_fn, false_fn)
        if scope is None and is_evaluating():
            return true_fn() if pred else false_fn()  # what it assigns is assigned
        return original(pred, true_fn, false_fn)

    keras_jax.core.cond = cond
