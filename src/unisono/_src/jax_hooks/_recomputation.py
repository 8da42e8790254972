"""Keeps what is computed again for a gradient apart from what was computed before, on CPUs too.

`jax.checkpoint` puts a barrier around the second computation. XLA:CPU drops all barriers before it merges operations
that do the same, so that nothing is computed again and everything is kept: the gradient of 12 blocks of two products
(512 rows, 64 to 512 to 64) needs 38.8 MB of temporaries with `jax.checkpoint` and without. With barriers that stay it
needs 3.3 MB. On GPUs they stay by themselves.

Checked against JAX 0.10.2: the pass that drops them is called "cse_barrier_expander", and XLA:CPU compiles barriers.
"""

from __future__ import annotations

from typing import Any, Final

from unisono._src import hooks
from unisono._src.jax_hooks._equations import primitive_names

_CHECKPOINTS: Final = hooks.require_primitives(
    ("remat2", "checkpoint"), why="what a rematerialized block computes again is kept apart from the first time"
)
_HOST_CALLS: Final = hooks.require_primitives(
    *("debug_callback", "debug_print", "io_callback", "pure_callback"), why="programs that call Python run differently"
)
_DISABLED: Final = "xla_disable_hlo_passes"


def keep_recomputation(options: dict[str, bool | str], program: Any, platform: str) -> dict[str, bool | str]:
    """XLA's ``options`` for a traced program, with what it takes to compute values again that it wants so."""
    if platform != "cpu" or _CHECKPOINTS.isdisjoint(primitive_names(program.jaxpr)):
        return options
    disabled = [str(options[_DISABLED])] if _DISABLED in options else []
    return {**options, _DISABLED: ",".join([*disabled, "cse_barrier_expander"])}


def calls_host(jaxpr: Any) -> bool:
    """Whether a program calls functions of Python while it runs: checks, prints, callbacks."""
    return any(name in _HOST_CALLS or name.endswith("_callback") for name in primitive_names(jaxpr))
