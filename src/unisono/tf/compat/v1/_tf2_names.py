"""Names of `tf.compat.v1` that mean the same in both releases."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection
from typing import Any, Final

from unisono.tf._event_messages import message_class
from unisono.tf._missing import explain_missing_names

# In both releases, and not the same: in the first, graphs, sessions and collections belong to them.
_OTHERS: Final = frozenset({"initializers", "losses", "metrics", "saved_model", "summary"})

_MESSAGES: Final = frozenset({"Event", "Summary", "SummaryMetadata"})


def fallen_back(
    where: str, module: str, others: Collection[str] = (), messages: Collection[str] = ()
) -> Callable[[str], Any]:
    """A `__getattr__`: names come from ``module``, but for ``others``, and errors speak of ``where``.

    ``messages`` are classes of event files, which are imported when they are asked for.
    """
    missing = explain_missing_names(where, depth=2)

    def found(name: str) -> Any:
        if name in messages:
            return message_class(name)
        # Read from the module's own members: its errors would speak of another module.
        members = vars(importlib.import_module(module))
        return members[name] if name in members and name not in others else missing(name)

    return found


of_both_releases: Final = fallen_back("tf.compat.v1", "unisono.tf", _OTHERS, _MESSAGES)
