"""Hook: one wrapper around `Layer.__call__` and one around `Layer.stateless_call`, with a list of small handlers each.

Every layer of every model passes here, so a handler must cost little. They run in a fixed order, whichever module
installed them first. Checked against Keras 3.15.1: every layer passes `Layer.__call__`, except for a model in its steps
on JAX, which passes `stateless_call`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import keras

from unisono._src import hooks

Adapt = Callable[[Any, tuple[Any, ...], dict[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]]

# From the outermost to the innermost.
_ORDER: Final = (
    "remat",
    "keras2 positions",
    "ragged inputs",
    "text",
    "explicit training",
    "inherited training",
    "current layer",
)


@dataclass(frozen=True, kw_only=True)
class CallHandler:
    """What is done around a call.

    Attributes:
        name: one of those in ``_ORDER``.
        adapt: changes the arguments: `(layer, args, kwargs) -> (args, kwargs)`.
        enter: called before the layer with `(layer, kwargs)`; its result is given to ``leave``.
        leave: called with `(layer, kwargs, entered)` after the layer, also when it raised.
    """

    name: str
    adapt: Adapt | None = None
    enter: Callable[[Any, dict[str, Any]], Any] | None = None
    leave: Callable[[Any, dict[str, Any], Any], None] | None = None


@dataclass(frozen=True, eq=False)
class _Dispatcher:
    """The handlers of one method."""

    adapters: list[Adapt] = field(default_factory=list)
    around: list[tuple[Any, Any]] = field(default_factory=list)
    handlers: list[CallHandler] = field(default_factory=list)

    def install(self, handler: CallHandler) -> None:
        if any(each.name == handler.name for each in self.handlers):
            raise ValueError(f"The handler {handler.name!r} is installed already.")
        self.handlers.append(handler)
        self.handlers.sort(key=lambda each: _ORDER.index(each.name))
        self.adapters[:] = [each.adapt for each in self.handlers if each.adapt is not None]
        self.around[:] = [(each.enter, each.leave) for each in self.handlers if each.enter is not None]

    def wrap(self, original: Any) -> Any:
        adapters, around = self.adapters, self.around

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            for adapt in adapters:
                args, kwargs = adapt(self, args, kwargs)
            if not around:
                return original(self, *args, **kwargs)
            entered = [(leave, enter(self, kwargs)) for enter, leave in around]
            try:
                return original(self, *args, **kwargs)
            finally:
                for leave, state in reversed(entered):
                    leave(self, kwargs, state)

        return call


_calls: Final = _Dispatcher()
_stateless_calls: Final = _Dispatcher()


def install_layer_call_dispatcher() -> None:
    """Installs the hook, without handlers."""
    hooks.wrap(
        keras.Layer,
        "__call__",
        _calls.wrap,
        expects="(self, *args, **kwargs)",
        why="text, `training` and random numbers of layers: the handlers in _layer_calls.py",
    )
    hooks.wrap(
        keras.Layer,
        "stateless_call",
        _stateless_calls.wrap,
        expects="(self, trainable_variables, non_trainable_variables, *args, return_losses=False, **kwargs)",
        why="on JAX the steps of a model do not pass __call__",
    )


def handle_layer_calls(handler: CallHandler) -> None:
    """From now on ``handler`` is part of every call of a layer."""
    _calls.install(handler)


def handle_stateless_calls(handler: CallHandler) -> None:
    """From now on ``handler`` is part of every `stateless_call`."""
    _stateless_calls.install(handler)
