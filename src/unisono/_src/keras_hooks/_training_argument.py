"""Hook: which value `training` has in a layer, as in TensorFlow.

Two things differ in Keras 3 on JAX. Its steps do not call the model but its `call`, so that no layer encloses its
layers: a subclassed model whose `call` does not pass `training` would train without dropout. And what one layer was
given stays in force for those called after it: `self.base(x, training=False)` would switch off the dropout behind it.

In a functional model, Keras 3 gives all layers what the model is given. As in Keras 2, a value that a layer was
given explicitly stays: `base(x, training=False)`, `Dropout(0.5)(x, training=True)`. Else batch normalisation of a
base that is being fine-tuned would learn new statistics, and dropout that is to stay on would go off in `predict`.

Checked against Keras 3.15.1: `JAXTrainer.compute_loss_and_updates` knows whether it is training and calls
`stateless_call`; a `CallContext` belongs to the layer that was called first and has the attribute `training`. A `Node`
records `training` whether the caller gave it, an enclosing layer or the default of `call`; `Functional.call` finds
`operation_fn` in its module and overwrites what was recorded. Keras 3.16 keeps it: `Layer.__call__` uses the value of
the enclosing layer only for a layer that was called without one.
"""

from __future__ import annotations

import threading
from typing import Any, Final

import keras
from keras.src.backend.common import global_state
from keras.src.backend.jax.trainer import JAXTrainer
from keras.src.models import functional

from unisono._src import hooks
from unisono._src.keras_hooks._layer_calls import CallHandler, handle_layer_calls, handle_stateless_calls

_CONTEXT: Final = "current_call_ctx"

# Whether a functional model of this Keras keeps the value that a layer was given explicitly.
_KEEPS_EXPLICIT: Final = tuple(map(int, keras.__version__.split(".")[:2])) >= (3, 16)


class _Current(threading.local):
    """The model whose loss is being computed, and whether it is for training."""

    model: Any = None
    training: bool | None = None


_current = _Current()


def install_training_inheritance() -> None:
    """Installs the hook by which a layer without `training` uses that of the layer that calls it."""
    why = "a layer without `training` uses that of the layer that calls it"
    # Their code holds the name under which Keras keeps the context; under another one it would never be found.
    hooks.require(keras.Layer, "_get_call_context", expects="source 9997f7b1d848", why=why)
    hooks.require(keras.Layer, "_maybe_reset_call_context", expects="source b531f30b793b", why=why)
    handle_layer_calls(
        CallHandler(name="inherited training", enter=_note_context_training, leave=_restore_context_training)
    )
    handle_stateless_calls(CallHandler(name="inherited training", enter=_set_training, leave=_reset_training))
    hooks.wrap(
        JAXTrainer,
        "compute_loss_and_updates",
        _note_model,
        expects="(self, trainable_variables, non_trainable_variables, metrics_variables, x, y, sample_weight, "
        "training=False, optimizer_variables=None)",
        why=why,
    )


def install_explicit_training() -> None:
    """Installs the hook by which `training` that a layer of a functional model was given explicitly stays."""
    handle_layer_calls(CallHandler(name="explicit training", enter=_count_nodes, leave=_forget_implicit_training))
    why = "Dropout(0.5)(x, training=True) in a functional model stays on in predict"
    if _KEEPS_EXPLICIT:
        hooks.require(keras.Layer, "_resolve_and_populate_arg", expects="source 6fa67e0494fd", why=why)
    else:
        hooks.wrap(functional, "operation_fn", _keep_explicit, expects="(operation, **call_context_args)", why=why)
        hooks.require(functional.Functional, "call", expects="calls operation_fn", why=why)


def check_operation_calls() -> None:
    """Checks that Keras has what :func:`call_operation` uses."""
    why = "the layers after those for text get the value of `training` that the model gets"
    if _KEEPS_EXPLICIT:
        hooks.require(keras.Layer, "_call_context_args", expects="instance attribute", why=why)
    else:
        hooks.require(functional, "operation_fn", expects="(operation, **call_context_args)", why=why)


def call_operation(operation: Any, args: Any, kwargs: dict[str, Any], context: dict[str, Any]) -> Any:
    """Calls an operation of a functional model that was itself called with ``context``: with a value of `training`."""
    if not _KEEPS_EXPLICIT:
        return functional.operation_fn(operation, **context)(*args, **kwargs)
    known = getattr(operation, "_call_context_args", ())
    inherited = {name: value for name, value in context.items() if name in known and value is not None}
    return operation(*args, **inherited | kwargs)


def _note_model(original: Any) -> Any:
    def compute(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = _current.model, _current.training
        _current.model, _current.training = self, bool(kwargs.get("training", False))
        try:
            return original(self, *args, **kwargs)
        finally:
            _current.model, _current.training = before

    return compute


def _note_context_training(layer: Any, kwargs: dict[str, Any]) -> Any:
    context = global_state.get_global_attribute(_CONTEXT)
    return None if context is None else (context, context.get_value("training"))


def _restore_context_training(layer: Any, kwargs: dict[str, Any], entered: Any) -> None:
    if entered is not None:
        context, before = entered
        context.set_value("training", before)


def _set_training(layer: Any, kwargs: dict[str, Any]) -> Any:
    training = kwargs.get("training", _current.training if _current.model is layer else None)
    if training is None:
        return None
    context = layer._get_call_context()
    before = context.get_value("training")
    context.set_value("training", training)
    return context, before


def _reset_training(layer: Any, kwargs: dict[str, Any], entered: Any) -> None:
    if entered is not None:
        context, before = entered
        context.set_value("training", before)
        layer._maybe_reset_call_context()


def _count_nodes(layer: Any, kwargs: dict[str, Any]) -> int:
    return len(getattr(layer, "_inbound_nodes", ()))


def _forget_implicit_training(layer: Any, kwargs: dict[str, Any], num_nodes: int) -> None:
    if "training" not in kwargs:
        for node in getattr(layer, "_inbound_nodes", ())[num_nodes:]:
            node.arguments.kwargs.pop("training", None)


def _keep_explicit(original: Any) -> Any:
    def operation_fn(operation: Any, **call_context_args: Any) -> Any:
        with_context = original(operation, **call_context_args)
        rest = {name: value for name, value in call_context_args.items() if name != "training"}
        as_recorded = original(operation, **rest)

        def call(*args: Any, **kwargs: Any) -> Any:
            return (as_recorded if _is_explicit(operation, kwargs) else with_context)(*args, **kwargs)

        return call

    return operation_fn


def _is_explicit(operation: Any, kwargs: dict[str, Any]) -> bool:
    """Whether `training` is not the default of its `call`, which stock Keras records as well."""
    if kwargs.get("training") is None or not hasattr(operation, "_call_signature"):
        return False
    return bool(kwargs["training"] != operation._call_signature.parameters["training"].default)
