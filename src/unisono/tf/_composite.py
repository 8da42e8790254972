"""Tensors that are made of several arrays, ragged and sparse ones, and the functions of the namespace that accept them.

`_op.py` asks here when an argument is such a tensor. The packages `ragged` and `sparse` register their functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from unisono._src.data.plans import CompositeLeaf

NOT_ACCEPTED = """tf.{name} does not accept a {kind}. {advice}"""


class CompositeTensor(CompositeLeaf):
    """The base class of RaggedTensor and SparseTensor."""

    advice = ""
    """What to write if a function does not accept it."""
    dense_advice = "Write x.to_tensor() for ragged tensors and tf.sparse.to_dense(x) for sparse ones."
    """What to write for a dense tensor."""
    __array_ufunc__ = None  # `array + tensor` is left to the tensor's `__radd__`


_handlers: Final[dict[type, dict[str, Callable[..., Any]]]] = {}


def register_handlers(kind: type, handlers: dict[str, Callable[..., Any]]) -> None:
    """From now on functions of the namespace, by their names without "tf.", call these if an argument is a ``kind``."""
    _handlers.setdefault(kind, {}).update(handlers)


def handler_for(composite: CompositeTensor, name: str) -> Callable[..., Any]:
    """The function to call instead of ``name`` for such an argument."""
    found = next((_handlers[base][name] for base in type(composite).__mro__ if name in _handlers.get(base, {})), None)
    if found is None:
        kind = type(composite).__name__
        raise TypeError(NOT_ACCEPTED.format(name=name, kind=kind, advice=composite.advice.format(name=name)))
    return found
