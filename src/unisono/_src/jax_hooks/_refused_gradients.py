"""Results that JAX cannot differentiate, such as those of a callback: their gradient raises an error, and is not zero.

The tangents pass an operation that raises it when it is transposed or lowered, so that results whose gradient nobody
asks for are no error. Checked against JAX 0.10.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

_refused: Final = Primitive("unisono_refused_gradient")


def refuse_gradient(result: Any, arguments: Sequence[Any], error: Callable[[], Exception]) -> Any:
    """``result``, whose gradient with respect to ``arguments`` raises ``error``. Integers have none."""
    floating = [each for each in arguments if jnp.issubdtype(each.dtype, jnp.inexact)]
    if not floating or not jnp.issubdtype(result.dtype, jnp.inexact):
        return result

    @jax.custom_jvp
    def attach(result: Any, *arguments: Any) -> Any:
        return result

    @attach.defjvp
    def derive(primals: Any, tangents: Any) -> tuple[Any, Any]:
        tangent, *others = tangents
        dependent = tangent + sum(jnp.sum(jnp.real(each)).astype(tangent.dtype) for each in others)
        return primals[0], _refused.bind(dependent, error=error)

    return attach(result, *floating)


def _raise(*operands: Any, error: Callable[[], Exception], **kwargs: Any) -> NoReturn:
    raise error()


_refused.def_impl(_raise)
_refused.def_abstract_eval(lambda aval, *, error: aval)
ad.deflinear2(_refused, _raise)
batching.defvectorized(_refused)
mlir.register_lowering(_refused, _raise)
