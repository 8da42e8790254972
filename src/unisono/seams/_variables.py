"""Hook: a Keras variable made in a scope belongs to the scope's strategy and lives where its placement says.

Checked against Keras 3.15.1: every value that enters a `JaxVariable` outside of a stateless scope passes
`_direct_assign`, and `__init__` runs before the first one. Keras's own `layout` is left None, since it makes
initialisers draw under a mesh; a value is drawn as on one device and then placed, so it is the same one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from keras.src.backend.jax.core import JaxVariable

from unisono import context

_OWNER = "_unisono_strategy"


def own_variables() -> None:
    """Installs the hook."""
    original_init = JaxVariable.__init__
    original_assign = JaxVariable._direct_assign

    @functools.wraps(original_init)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        setattr(self, _OWNER, context.current())
        original_init(self, *args, **kwargs)

    @functools.wraps(original_assign)
    def direct_assign(self: Any, value: Any) -> None:
        owner = getattr(self, _OWNER, None)
        if owner is None:
            original_assign(self, value)
        else:
            self._value = owner.placement.place_variable(value)

    JaxVariable.__init__ = init
    JaxVariable._direct_assign = direct_assign


def adopt(variables: Iterable[Any], strategy: context.Placed) -> None:
    """Moves variables that belong to nobody (an optimizer made outside the scope, say) to ``strategy``.

    Raises ``ValueError`` for one that belongs to another strategy.
    """
    for variable in variables:
        owner = getattr(variable, _OWNER, None)
        if owner is None:
            setattr(variable, _OWNER, strategy)
            variable._value = strategy.placement.place_variable(variable._value)
        elif owner is not strategy:
            raise ValueError(
                f"The variable {variable.path!r} was made in the scope of {owner!r}, the model belongs to "
                f"{strategy!r}. Make the model, its optimizer and its metrics in the same scope."
            )
