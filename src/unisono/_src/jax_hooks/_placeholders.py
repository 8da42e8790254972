"""Placeholders: values that are not known while a function is traced, and are substituted when it is compiled.

A placeholder is the result of a primitive of our own, `unisono_placeholder`, with the key of the value and its shape
and dtype. Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1, whose `jax.core.Trace` has the methods that
`_SubstitutingTrace` forwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from jax.core import ShapedArray, Trace, eval_jaxpr
from jax.extend.core import Primitive, set_current_trace

from unisono._src.jax_hooks._traces import current_trace

_placeholder: Final = Primitive("unisono_placeholder")
_placeholder.def_abstract_eval(lambda *, key, aval: aval)


def make_placeholder(trace: Any, key: int, like: Any) -> Any:
    """A value of the shape and dtype of ``like`` in ``trace``, known by ``key``; see :func:`substitute`."""
    with set_current_trace(trace):
        return _placeholder.bind(key=key, aval=ShapedArray(like.shape, like.dtype))


def is_placeholder(primitive: Any) -> bool:
    """Whether it is the operation behind :func:`make_placeholder`."""
    return primitive is _placeholder


def placeholder_key(equation: Any) -> int | None:
    """The key of the placeholder that an equation of a jaxpr is; None for any other equation."""
    return equation.params["key"] if equation.primitive is _placeholder else None


def substitute(
    traced: Any, values: Callable[[int, Any], Any], arguments: list[Any], constants: Sequence[Any] = ()
) -> list[Any]:
    """Runs, in a trace, what `jax.make_jaxpr` returned, with ``values(key, shape_and_dtype)`` for its
    placeholders, and ``constants``, if there are any, for its own."""
    with set_current_trace(_SubstitutingTrace(current_trace(), values)):
        results: list[Any] = eval_jaxpr(traced.jaxpr, constants or traced.consts, *arguments)
        return results


class _SubstitutingTrace(Trace):
    """Forwards everything to another trace, except for placeholders."""

    def __init__(self, parent: Any, values: Callable[[int, Any], Any]):
        super().__init__()  # type: ignore[no-untyped-call]
        self._parent, self._values = parent, values
        self.requires_low = parent.requires_low

    def process_primitive(self, primitive: Any, args: Any, params: Any, /) -> Any:
        with set_current_trace(self._parent):  # there is none while JAX calls this
            if primitive is _placeholder:
                return self._values(params["key"], params["aval"])
            return primitive.bind(*args, **params)

    def stage_value(self, val: Any) -> Any:
        return self._parent.stage_value(val)

    def process_custom_jvp_call(self, *args: Any, **kwargs: Any) -> Any:
        return self._forward("process_custom_jvp_call", *args, **kwargs)

    def process_custom_vjp_call(self, *args: Any, **kwargs: Any) -> Any:
        return self._forward("process_custom_vjp_call", *args, **kwargs)

    def process_call(self, *args: Any, **kwargs: Any) -> Any:  # gone after JAX 0.11.0
        return self._forward("process_call", *args, **kwargs)

    def process_shard_map(self, *args: Any, **kwargs: Any) -> Any:
        return self._forward("process_shard_map", *args, **kwargs)

    def _forward(self, method: str, *args: Any, **kwargs: Any) -> Any:
        with set_current_trace(self._parent):
            return getattr(self._parent, method)(*args, **kwargs)
