"""Keras's metrics with `reset_states`, also where a user's metric defines that and not `reset_state`. The `result` of a
user's metric may be a variable."""

from __future__ import annotations

import functools
import types
from typing import Any

import keras


def give_old_names() -> None:
    """Puts them onto Keras's class."""
    kind = keras.metrics.Metric
    original = kind.reset_state

    def reset_states(self: Any) -> None:
        """Begins anew: `reset_state` by its name in Keras 2."""
        if type(self).reset_states is reset_states:
            self.reset_state()
        else:  # called by a subclass's own reset_states
            original(self)

    @functools.wraps(original)
    def reset_state(self: Any) -> None:
        if type(self).reset_states is reset_states:
            original(self)
        else:
            self.reset_states()

    kind.reset_states = reset_states
    kind.reset_state = reset_state
    kind.add_weight = _named_first(kind.add_weight)
    kind.add_variable = _named_first(kind.add_variable)
    kind.__init_subclass__ = classmethod(_read_results)


def _read_results(cls: Any, /, **kwargs: Any) -> None:
    """A `result` that is a variable, as in `return self.total`, becomes its value: programs return values alone."""
    super(keras.metrics.Metric, cls).__init_subclass__(**kwargs)
    original = cls.__dict__.get("result")
    if not isinstance(original, types.FunctionType):
        return

    @functools.wraps(original)
    def result(self: Any) -> Any:
        return keras.tree.map_structure(_value, original(self))

    cls.result = result


def _value(leaf: Any) -> Any:
    return leaf.value if isinstance(leaf, keras.Variable) else leaf


def _named_first(original: Any) -> Any:
    """Keras 2 took the name first: `add_weight("total", initializer="zeros")`."""

    @functools.wraps(original)
    def add(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], str):
            kwargs["name"], args = args[0], args[1:]
            kwargs.setdefault("shape", ())
        for name in ("synchronization", "aggregation", "use_resource"):
            kwargs.pop(name, None)
        return original(self, *args, **kwargs)

    return add
