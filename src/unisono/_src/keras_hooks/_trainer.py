"""Hook: `fit`, `evaluate`, `predict` and their batch forms of models that belong to a strategy come to us.

Checked against Keras 3.15.1: `JAXTrainer` holds the six methods, every kind of model runs its `__init__`, and
`compile` is inherited from the base `Trainer` (where loading a model compares it, so it is replaced there).
Models made outside of every scope keep Keras's own methods.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from keras.src.backend.jax.trainer import JAXTrainer
from keras.src.trainers.trainer import Trainer

from unisono._src.core import Override
from unisono._src.keras_hooks._owner import get_owner, set_owner
from unisono._src.replicas import context


@dataclass(frozen=True, kw_only=True)
class TrainerMethods:
    """What a strategy's models do instead. All take the model, then Keras's arguments by name, defaults filled in.

    Attributes:
        compiled: called with the model after `model.compile(...)`: what was traced before is stale.
    """

    fit: Callable[..., Any]
    evaluate: Callable[..., Any]
    predict: Callable[..., Any]
    train_on_batch: Callable[..., Any]
    test_on_batch: Callable[..., Any]
    predict_on_batch: Callable[..., Any]
    compiled: Callable[[Any], None]


ROUTED = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")

MADE_OUTSIDE = """This model was made outside of the scope of {strategy!r} and is compiled inside of it.
It would train on one device only. Make it in the scope:
    with strategy.scope():
        model = ...
        model.compile(...)"""


NO_STRATEGY = """`{name}` of `{method}` is for models of a strategy, and this one was made outside of every scope.
Make it in one; a single device will do:
    with unisono.OneDeviceStrategy("cpu:0").scope():
        model = ..."""


def route_trainer(methods: TrainerMethods) -> None:
    """Installs the hook."""
    _remember_owner()
    _watch_compile(methods)
    for name in ROUTED:
        setattr(JAXTrainer, name, _routed(getattr(JAXTrainer, name), getattr(methods, name)))


choose_owner: Final[Override[Callable[[Any, dict[str, Any]], context.HasPlacement | None] | None]] = Override(None)
"""To whom a model of no strategy belongs when it is to be trained with these arguments; None leaves it to Keras."""


def _remember_owner() -> None:
    original = JAXTrainer.__init__

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        set_owner(self, context.current_strategy())

    JAXTrainer.__init__ = init


def _watch_compile(methods: TrainerMethods) -> None:
    original = Trainer.compile

    @functools.wraps(original)
    def compile(self: Any, *args: Any, **kwargs: Any) -> None:
        current, owner = context.current_strategy(), get_owner(self)
        if current is not None and owner is None:
            raise ValueError(MADE_OUTSIDE.format(strategy=current))
        if owner is None:
            original(self, *args, **kwargs)
            return
        with context.enter_strategy(owner):
            original(self, *args, **kwargs)
        methods.compiled(self)

    Trainer.compile = compile


def _routed(original: Any, ours: Any) -> Any:
    signature = inspect.signature(original)
    added = {
        name
        for name, parameter in inspect.signature(ours).parameters.items()
        if parameter.default is not parameter.empty and name not in signature.parameters
    }

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = {name: kwargs.pop(name) for name in added & kwargs.keys()}
        if get_owner(self) is None and choose_owner.current is not None:
            set_owner(self, choose_owner.current(self, signature.bind(self, *args, **kwargs).arguments))
        if get_owner(self) is None:
            if own:
                raise TypeError(NO_STRATEGY.format(name=next(iter(own)), method=original.__name__))
            return original(self, *args, **kwargs)
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        del arguments["self"]
        arguments.update(arguments.pop("kwargs", {}))
        return ours(self, **arguments, **own)

    return method
