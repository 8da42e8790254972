"""Hooks: metrics with `reset_states`, also where a user-defined metric has that and not `reset_state`; the `result` of
a user-defined metric may be a variable. Checked against Keras 3.15.1.
"""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import keras

from unisono._src import hooks

_ADD_WEIGHT = "(self, shape=(), initializer=None, dtype=None, name=None)"
_ADD_VARIABLE = "(self, shape, initializer, dtype=None, aggregation='sum', name=None)"


def install_metric_names() -> None:
    """Installs the hooks."""
    kind, why = keras.metrics.Metric, "scripts use the names of Keras 2"
    hooks.wrap(kind, "__init__", _accept_name_by_position, expects="(self, dtype=None, name=None)", why=why)
    hooks.wrap(kind, "reset_state", _reset_by_either_name, expects="(self)", why=why)
    hooks.add(kind, "reset_states", _reset_states, why=why)
    hooks.wrap(kind, "add_weight", _accept_name_first, expects=_ADD_WEIGHT, why=why)
    hooks.wrap(kind, "add_variable", _accept_name_first, expects=_ADD_VARIABLE, why=why)
    why = "`return self.total` in the result of a metric returns the value"
    hooks.add(kind, "__init_subclass__", classmethod(_read_results), why=why)


_KERAS_RESET = "_unisono_keras_reset"


def _accept_name_by_position(original: Any) -> Any:
    """Keras 2 took the name first, and then the dtype: `super().__init__("score")`."""

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if args and args[0] is not None and not _is_dtype(args[0]):
            kwargs |= dict(zip(("name", "dtype"), args, strict=False))
            args = ()
        original(self, *args, **kwargs)

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # Keras reads it
    return init


def _is_dtype(value: Any) -> bool:
    if not isinstance(value, str):
        return True
    try:
        keras.backend.standardize_dtype(value)
    except ValueError:
        return value.startswith("mixed_")
    return True


def _reset_states(self: Any) -> None:
    """Resets the metric: `reset_state` by its name in Keras 2."""
    if type(self).reset_states is _reset_states:
        self.reset_state()
    else:  # called by the `reset_states` of a subclass
        getattr(keras.metrics.Metric.reset_state, _KERAS_RESET)(self)


def _reset_by_either_name(original: Any) -> Any:
    def reset_state(self: Any) -> None:
        if type(self).reset_states is _reset_states:
            original(self)
        else:
            self.reset_states()

    setattr(reset_state, _KERAS_RESET, original)
    return reset_state


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


def _accept_name_first(original: Any) -> Any:
    """Keras 2 took the name first: `add_weight("total", initializer="zeros")`."""

    def add(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], str):
            kwargs["name"], args = args[0], args[1:]
            kwargs.setdefault("shape", ())
        for name in ("synchronization", "aggregation", "use_resource"):
            kwargs.pop(name, None)
        return original(self, *args, **kwargs)

    return add
