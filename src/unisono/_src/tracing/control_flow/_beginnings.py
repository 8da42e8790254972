"""Objects that hold no arrays before a loop and hold some after a turn of it, as rows that the loop writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unisono._src.tracing.control_flow._forms import taken_apart


def begin_like(before: Any, after: Any) -> Callable[[], Any] | None:
    """What makes of ``before`` a value with the structure of ``after``; None if there is nothing that could.

    Objects have a method `begin_like` for that. An array whose rows are written in a loop is one: before, it has none.
    """
    parts, form = taken_apart(before, is_leaf=_begins)
    if not any(map(_begins, parts)):
        return None
    try:
        others = form.parts(after)
    except ValueError:  # the structure around these objects has changed too
        return None

    def begin() -> Any:
        begun = [part.begin_like(other) if _begins(part) else part for part, other in zip(parts, others, strict=True)]
        return form.value(begun)

    return begin


def _begins(part: Any) -> bool:
    return hasattr(part, "begin_like")
