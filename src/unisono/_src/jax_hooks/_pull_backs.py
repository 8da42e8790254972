"""What `jax.vjp` returns, used below its public form: results that depend on nothing, and zeros that JAX knows as such.

Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1: it is a `partial` of `_vjp3_callable`, whose second argument lists the
results that depend on nothing, and it accepts `jax.interpreters.ad.Zero` for a cotangent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
from jax._src import api
from jax.interpreters.ad import Zero

from unisono._src import hooks
from unisono._src.jax_hooks._primitive_call import PrimitiveCall

# Before 0.11, transposing a scan of which a stacked result has no cotangent raises "Expected cotangent type".
_SCANS_TAKE_SYMBOLIC_ZEROS: Final = jax.__version_info__ >= (0, 11)


def check_pull_backs() -> None:
    """Checks the arguments of the `partial` that `jax.vjp` returns."""
    hooks.require(
        api,
        "_vjp3_callable",
        expects=[
            "(spec, out_known, jaxpr, out_primal_avals, in_tree, out_tree, args_res, opaque_res, *maybe_ct_refs)",
            "(spec, out_zeros, jaxpr, out_primal_avals, in_tree, out_tree, args_res, opaque_res, structured_res, "
            "want_logs, *maybe_ct_refs)",
        ],
        why="its second argument tells which results have no gradient",
    )


def find_unconnected(pull_back: Any) -> list[bool]:
    """Of each result of a function, given what `jax.vjp` made of it: whether it does not depend on the arguments.

    That is so for `floor` and for `stop_gradient`. `jax.vjp` does not return it; :func:`check_pull_backs` has checked
    the arguments of the `partial`.
    """
    flags = pull_back.fun.args[1]
    assert all(type(flag) is bool for flag in flags), f"expected a bool for each result of jax.vjp, found {flags!r}"
    return list(flags)


def accepts_symbolic_zeros(call: Callable[..., list[Any]]) -> bool:
    """Whether the pull-back of ``call`` does, see :func:`zero_cotangent`; in an old JAX those of scans do not."""
    return _SCANS_TAKE_SYMBOLIC_ZEROS or (isinstance(call, PrimitiveCall) and not call.has_scan)


def zero_cotangent(shape: Any, symbolic: bool) -> Any:
    """What a pull-back takes for a result of this shape and dtype that is not used.

    ``symbolic`` is a zero that JAX knows to be one. With an array of zeros it would compute, and make NaN of 0 · ∞.
    """
    zero = Zero(shape.to_ct_aval())
    return zero if symbolic else zero.instantiate()
