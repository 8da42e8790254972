"""Functions of batches, compiled for the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from unisono._src.data.dataset._trace import NON_JAX_KINDS, Identity, NonJaxLeaf
from unisono._src.data.plans import Nest


class HostFunction:
    """`function(batch, identity)` compiled for the CPU, with NumPy's dtypes, 64 bits included.

    Leaves that JAX has no type for are not passed to it; those that the function returns are put back.
    """

    def __init__(self, function: Callable[[Nest, Identity], Nest]) -> None:
        self._function = function
        self._layouts: dict[Any, tuple[Any, list[int | None]]] = {}
        self._compiled = jax.jit(self._trace, static_argnums=0)

    def __call__(self, batch: Nest, identity: Identity = None) -> Nest:
        leaves, tree = jax.tree.flatten(batch)
        foreign = tuple(index for index, leaf in enumerate(leaves) if leaf.dtype.kind in NON_JAX_KINDS)
        known = [np.asarray(leaf) for index, leaf in enumerate(leaves) if index not in foreign]
        with jax.enable_x64(True), jax.default_device("cpu"):
            results = iter(self._compiled((tree, foreign), known, identity))
        result_tree, origins = self._layouts[(tree, foreign)]
        merged = [np.asarray(next(results)) if origin is None else leaves[origin] for origin in origins]
        return jax.tree.unflatten(result_tree, merged)

    def _trace(self, layout: Any, known: list[Any], identity: Identity) -> list[Any]:
        tree, foreign = layout
        following = iter(known)
        merged = [NonJaxLeaf(index) if index in foreign else next(following) for index in range(tree.num_leaves)]
        results, result_tree = jax.tree.flatten(self._function(jax.tree.unflatten(tree, merged), identity))
        origins = [result.leaf if isinstance(result, NonJaxLeaf) else None for result in results]
        self._layouts[layout] = (result_tree, origins)
        return [result for result in results if not isinstance(result, NonJaxLeaf)]
