"""How leaves are one value. As JAX's trees are, but a dict keeps the order of its keys, which may be of any type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import jax


@dataclass(frozen=True)
class _Dict:
    """The form of a dict: equal to that of a dict with the same keys in another order.

    Attributes:
        empty: makes a dict of its type without keys.
        forms: of what is in it, by key, in its order.
    """

    empty: tuple[type[dict[Any, Any]], Any]
    forms: dict[Hashable, Form]


@dataclass(frozen=True)
class Form:
    """The form of a value.

    Attributes:
        tree: JAX's, in which dicts are leaves.
        dicts: for each of its leaves, the form of the dict that it is; None for one that is no dict.
    """

    tree: Any
    dicts: tuple[_Dict | None, ...]

    def value(self, leaves: list[Any]) -> Any:
        """The value that has this form and these leaves."""
        return self._filled(iter(leaves))

    def placed_as_in(self, other: Form, leaves: list[Any]) -> list[Any]:
        """The leaves of a value of this form in the order that they have in ``other``, an equal one."""
        return self._placed(other, iter(leaves))

    def parts(self, value: Any) -> list[Any]:
        """What stands in ``value`` in the places of the leaves. ValueError if its form is another one."""
        found: list[Any] = []
        for part, inner in zip(self.tree.flatten_up_to(value), self.dicts, strict=True):
            if inner is None:
                found.append(part)
            elif _is_dict(part) and part.keys() == inner.forms.keys():
                found += [each for key, form in inner.forms.items() for each in form.parts(part[key])]
            else:
                raise ValueError("another form")
        return found

    def _filled(self, leaves: Iterator[Any]) -> Any:
        parts: list[Any] = []
        for inner in self.dicts:
            if inner is None:
                parts.append(next(leaves))
            else:
                kind, factory = inner.empty
                made = kind() if factory is None else defaultdict(factory)
                made.update((key, form._filled(leaves)) for key, form in inner.forms.items())
                parts.append(made)
        return jax.tree.unflatten(self.tree, parts)

    def _placed(self, other: Form, leaves: Iterator[Any]) -> list[Any]:
        placed: list[Any] = []
        for mine, others in zip(self.dicts, other.dicts, strict=True):
            if mine is None or others is None:
                placed.append(next(leaves))
            else:
                inner = {key: form._placed(others.forms[key], leaves) for key, form in mine.forms.items()}
                placed += [leaf for key in others.forms for leaf in inner[key]]
        return placed


def taken_apart(value: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Form]:
    """The leaves of ``value``, and its form. ``is_leaf`` says what stays whole."""
    parts, tree = jax.tree.flatten(value, is_leaf=lambda part: _is_dict(part) or is_leaf(part))
    leaves: list[Any] = []
    dicts: list[_Dict | None] = []
    for part in parts:
        if not _is_dict(part) or is_leaf(part):
            leaves.append(part)
            dicts.append(None)
            continue
        forms: dict[Hashable, Form] = {}
        for key, inside in part.items():
            inner, forms[key] = taken_apart(inside, is_leaf)
            leaves += inner
        dicts.append(_Dict((type(part), getattr(part, "default_factory", None)), forms))
    return leaves, Form(tree, tuple(dicts))


def _is_dict(part: Any) -> bool:
    return type(part) is dict or type(part) is defaultdict
