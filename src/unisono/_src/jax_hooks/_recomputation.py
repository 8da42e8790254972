"""Keeps what is computed again for a gradient apart from what was computed before, on CPUs too.

`jax.checkpoint` puts a barrier around the second computation. XLA:CPU drops all barriers before it merges operations
that do the same, so that nothing is computed again and everything is kept: the gradient of 12 blocks of two products
(512 rows, 64 to 512 to 64) needs 38.8 MB of temporaries with `jax.checkpoint` and without. With barriers that stay it
needs 3.3 MB. On GPUs they stay by themselves.

Checked against JAX 0.10.2: the pass that drops them is called "cse_barrier_expander", and XLA:CPU compiles barriers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from unisono._src.jax_hooks._equations import inner_jaxprs

_CHECKPOINTS: Final = frozenset({"checkpoint", "remat2"})
_DISABLED: Final = "xla_disable_hlo_passes"


def keep_recomputation(options: dict[str, bool | str], program: Any, platform: str) -> dict[str, bool | str]:
    """XLA's ``options`` for a traced program, with what it takes to compute values again that it wants so."""
    if platform != "cpu" or _CHECKPOINTS.isdisjoint(primitive_names(program.jaxpr)):
        return options
    disabled = [str(options[_DISABLED])] if _DISABLED in options else []
    return {**options, _DISABLED: ",".join([*disabled, "cse_barrier_expander"])}


def primitive_names(jaxpr: Any) -> Iterator[str]:
    """The names of all operations of a program, those of inner functions included."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for inner in inner_jaxprs(equation):
            yield from primitive_names(inner)


def calls_host(jaxpr: Any) -> bool:
    """Whether a program calls functions of Python while it runs: checks, prints, callbacks."""
    return any(name == "debug_print" or name.endswith("_callback") for name in primitive_names(jaxpr))
