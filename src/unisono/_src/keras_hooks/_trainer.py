"""Hook: `fit`, `evaluate`, `predict` and their batch forms: one wrapper around each, with a list of small handlers.

For models that belong to a strategy they run our loops. Models created outside every scope keep Keras's own.

Checked against Keras 3.15.1: `JAXTrainer` holds the six methods, every kind of model runs its `__init__`, and
`compile` is inherited from the base `Trainer` (where loading a model compares it, so it is replaced there).
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from keras import tree
from keras.metrics import Metric
from keras.src.backend.jax.trainer import JAXTrainer
from keras.src.trainers.trainer import Trainer

from unisono._src import hooks
from unisono._src.core import Override, warn_user
from unisono._src.keras_hooks._attributes import get_owner, set_owner
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

CREATED_OUTSIDE = """This model was created outside the scope of {strategy!r} and is {used} inside it.
It would train on one device only. Create it in the scope:
    with strategy.scope():
        model = ...
        model.compile(...)"""

IDLE_STRATEGY = """This model was created outside the scope of {strategy!r}.
It trains on one device only, with Keras's own loop. Create and compile it in the scope:
    with strategy.scope():
        model = ...
        model.compile(...)"""

NO_NUMBER = """compile() got loss_weights={found!r}: the third argument is the weights of the losses, which are numbers.
Name the argument that you mean, as in metrics=["accuracy"]."""

NO_STRATEGY = """`{name}` of `{method}` is for models of a strategy, and this one was created outside every scope.
Create it in one; a single device will do:
    with unisono.OneDeviceStrategy("cpu:0").scope():
        model = ..."""


choose_owner: Final[Override[Callable[[Any, dict[str, Any]], context.HasPlacement | None] | None]] = Override(None)
"""Which strategy trains a model of no strategy when it is trained with these arguments; None leaves it to Keras."""

handle_fit: Final[Override[Callable[[Any, dict[str, Any]], Any] | None]] = Override(None)
"""What `fit` does instead of training, given the model and the arguments by name; None trains. For `unisono plan`."""

ArgumentAdapter = Callable[[Any, inspect.Signature, tuple[Any, ...], dict[str, Any]], tuple[Any, Any]]
"""Changes the arguments of a method: `(model, signature, args, kwargs) -> (args, kwargs)`."""

_adapters: Final[dict[str, list[ArgumentAdapter]]] = {name: [] for name in ROUTED}
_contexts: Final[dict[str, list[Callable[[Any], contextlib.AbstractContextManager[Any]]]]] = {
    name: [] for name in ROUTED
}

_SIGNATURES: Final = {
    "fit": "(self, x=None, y=None, batch_size=None, epochs=1, verbose='auto', callbacks=None, validation_split=0.0, "
    "validation_data=None, shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0, "
    "steps_per_epoch=None, validation_steps=None, validation_batch_size=None, validation_freq=1)",
    "evaluate": "(self, x=None, y=None, batch_size=None, verbose='auto', sample_weight=None, steps=None, "
    "callbacks=None, return_dict=False, **kwargs)",
    "predict": "(self, x, batch_size=None, verbose='auto', steps=None, callbacks=None)",
    "train_on_batch": "(self, x, y=None, sample_weight=None, class_weight=None, return_dict=False)",
    "test_on_batch": "(self, x, y=None, sample_weight=None, return_dict=False)",
    "predict_on_batch": "(self, x)",
}

COMPILE_SIGNATURE: Final = (
    "(self, optimizer='rmsprop', loss=None, loss_weights=None, metrics=None, weighted_metrics=None, "
    "run_eagerly=False, steps_per_execution=1, jit_compile='auto', auto_scale_loss=True)"
)


def install_trainer_routing(methods: TrainerMethods) -> None:
    """Installs the hook."""
    why = "a model trains with the strategy in whose scope it was made"
    hooks.wrap(JAXTrainer, "__init__", _remember_owner, expects="(self)", why=why)
    hooks.wrap(
        Trainer,
        "compile",
        functools.partial(_compile_in_scope, methods),
        expects=COMPILE_SIGNATURE,
        why="a model is compiled in the scope of its strategy, and programs traced before are dropped",
    )
    for name in ROUTED:
        make = functools.partial(_dispatch, getattr(methods, name))
        hooks.wrap(JAXTrainer, name, make, expects=_SIGNATURES[name], why=why)


def adapt_arguments_of(names: tuple[str, ...], adapter: ArgumentAdapter) -> None:
    """From now on ``adapter`` changes the arguments of these methods before all else."""
    for name in names:
        _adapters[name].append(adapter)


def run_inside(names: tuple[str, ...], make: Callable[[Any], contextlib.AbstractContextManager[Any]]) -> None:
    """From now on these methods run inside the context manager ``make(model)``; the last one added is outermost."""
    for name in names:
        _contexts[name].insert(0, make)


def _remember_owner(original: Any) -> Any:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        set_owner(self, context.current_strategy())

    return init


def _compile_in_scope(methods: TrainerMethods, original: Any) -> Any:
    def compile(self: Any, *args: Any, **kwargs: Any) -> None:
        current, owner = context.current_strategy(), get_owner(self)
        if current is not None and owner is None:
            raise ValueError(CREATED_OUTSIDE.format(strategy=current, used="compiled"))
        if owner is None:
            original(self, *args, **kwargs)
            return
        _check_loss_weights(*args, **kwargs)
        with context.enter_strategy(owner):
            original(self, *args, **kwargs)
        methods.compiled(self)

    return compile


def _check_loss_weights(optimizer: Any = None, loss: Any = None, loss_weights: Any = None, *_: Any, **__: Any) -> None:
    """Keras's message about a name among the weights comes from JAX, in the middle of `fit`."""
    if any(isinstance(leaf, str | Metric) for leaf in tree.flatten(loss_weights)):
        raise ValueError(NO_NUMBER.format(found=loss_weights))


def _dispatch(ours: Any, original: Any) -> Any:
    name, signature = original.__name__, inspect.signature(original)
    added = {
        parameter.name
        for parameter in inspect.signature(ours).parameters.values()
        if parameter.default is not parameter.empty and parameter.name not in signature.parameters
    }

    def route(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        own = {name: kwargs.pop(name) for name in added & kwargs.keys()}
        if get_owner(self) is None and choose_owner.current is not None:
            set_owner(self, choose_owner.current(self, signature.bind(self, *args, **kwargs).arguments))
        if name == "fit" and handle_fit.current is not None:
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            return handle_fit.current(self, {key: value for key, value in bound.arguments.items() if key != "self"})
        if get_owner(self) is None:
            if own:
                raise TypeError(NO_STRATEGY.format(name=next(iter(own)), method=name))
            if name in ("fit", "train_on_batch"):
                _check_scope_not_forgotten()
            return original(self, *args, **kwargs)
        bound = _bind(name, signature, added, self, *args, **kwargs)
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        del arguments["self"]
        arguments.update(arguments.pop("kwargs", {}))
        return ours(self, **arguments, **own)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        for adapt in _adapters[name]:
            args, kwargs = adapt(self, signature, args, kwargs)
        with contextlib.ExitStack() as stack:
            for make in _contexts[name]:
                stack.enter_context(make(self))
            return route(self, args, kwargs)

    return method


def _check_scope_not_forgotten() -> None:
    """Before a model of no strategy trains: an error in a scope, a warning if a strategy exists and is not used."""
    current, idle = context.current_strategy(), context.idle_strategy()
    if current is not None:
        raise ValueError(CREATED_OUTSIDE.format(strategy=current, used="trained"))
    if idle is not None:
        warn_user(IDLE_STRATEGY.format(strategy=idle))


def _bind(
    name: str, signature: inspect.Signature, added: set[str], *args: Any, **kwargs: Any
) -> inspect.BoundArguments:
    """The arguments of a method; an error names the method, and the argument that a misspelled one resembles."""
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        known = [*signature.parameters, *added]
        near = [
            f"{each!r}" for given in kwargs if given not in known for each in difflib.get_close_matches(given, known, 1)
        ]
        meant = f". Did you mean {' and '.join(near)}?" if near else ""
        raise TypeError(f"{name}() {error}{meant}") from None
