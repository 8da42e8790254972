"""Hook: `keras.ops.cond` whose branches assign variables, as those of `LossScaleOptimizer` do.

Checked against Keras 3.15.1: all of Keras reaches `backend.core.cond`, which is `jax.lax.cond`; what a branch assigns
would be lost with its trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from keras.src import backend
from keras.src.backend.common.stateless_scope import get_stateless_scope
from keras.src.ops.core import Cond

from unisono._src import hooks
from unisono._src.jax_hooks import is_evaluating
from unisono._src.keras_hooks._variables import StateScope
from unisono._src.replicas.values import is_host_only


def install_branch_routing(traced_cond: Callable[[StateScope, Any, Any, Any], Any]) -> None:
    """Installs the hook: inside one of our scopes, ``traced_cond(scope, predicate, true_fn, false_fn)`` is called.

    Where operations are carried out one by one, the predicate is known, and Python chooses.
    """

    def make(original: Any) -> Any:
        def cond(pred: Any, true_fn: Any, false_fn: Any) -> Any:
            scope = get_stateless_scope()
            if isinstance(scope, StateScope):
                return traced_cond(scope, pred, true_fn, false_fn)
            if scope is None and is_evaluating():
                return jax.tree.map(_as_array, true_fn() if pred else false_fn())  # what it assigns is assigned
            return original(pred, true_fn, false_fn)

        return cond

    why = "variables that a branch of keras.ops.cond assigns keep what was assigned"
    hooks.require(Cond, "call", expects="calls backend.core.cond", why=why)
    hooks.wrap(backend.core, "cond", make, expects="(pred, true_fn, false_fn)", why=why)


def _as_array(leaf: Any) -> Any:
    """Numbers and NumPy's arrays as `jax.lax.cond` returns them; text and other objects as they are."""
    is_number = isinstance(leaf, bool | int | float | complex | np.ndarray | np.generic)
    return leaf if not is_number or is_host_only(getattr(leaf, "dtype", np.dtype(bool))) else jnp.asarray(leaf)
