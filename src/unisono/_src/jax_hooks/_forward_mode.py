"""Functions that can be differentiated in forward mode, and explain why not in reverse.

`jax.custom_vjp` could explain it, but refuses forward mode too. Here the tangents pass an operation that does nothing,
whose transpose raises the error. Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

_forward_only: Final = Primitive("unisono_forward_only")


def refuse_reverse_mode(function: Callable[..., list[Any]], error: Callable[[], Exception]) -> Callable[..., list[Any]]:
    """``function`` of arrays, whose gradient raises ``error`` and whose derivative in forward mode does not."""

    @jax.custom_jvp
    def call(*arguments: Any) -> list[Any]:
        return function(*arguments)

    @call.defjvp
    def derive(primals: Any, tangents: Any) -> tuple[list[Any], list[Any]]:
        results, derivatives = jax.jvp(function, primals, tangents)
        return results, [_pass(derivative, error) for derivative in derivatives]

    return call


def _pass(derivative: Any, error: Callable[[], Exception]) -> Any:
    # Integers have derivatives of a dtype that no operation takes.
    return derivative if derivative.dtype == jax.dtypes.float0 else _forward_only.bind(derivative, error=error)


def _transpose(cotangent: Any, operand: Any, *, error: Callable[[], Exception]) -> Any:
    raise error()


_forward_only.def_impl(lambda operand, *, error: operand)
_forward_only.def_abstract_eval(lambda aval, *, error: aval)
ad.deflinear2(_forward_only, _transpose)
batching.defvectorized(_forward_only)
mlir.register_lowering(_forward_only, lambda context, operand, *, error: [operand])
