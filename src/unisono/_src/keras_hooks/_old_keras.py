"""Hooks for scripts that were written for Keras 2. Installed when `unisono.tf.keras` is imported, never by the core.

Checked against Keras 3.15.1: losses check their `reduction` by `standardize_reduction`; `Trainer.compile` is the one of
all models (loading compares it, so it is replaced there); the losses and metrics given to `compile` are `_compile_loss`
and `_compile_metrics`, and the loss of the logs is `_loss_tracker`; `legacy.preprocessing` needs no TensorFlow;
`Functional.add_loss` raises; `layer.get_shapes_dict` gives the arguments of `build`; `keras.tree` is optree with the
namespace "keras".
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import keras
import optree
from keras.src.layers import layer as layer_module
from keras.src.legacy.preprocessing import image as legacy_image
from keras.src.legacy.preprocessing import sequence as legacy_sequence
from keras.src.legacy.preprocessing import text as legacy_text
from keras.src.losses import loss as loss_module
from keras.src.models.functional import Functional
from keras.src.trainers.trainer import Trainer

LEGACY_PREPROCESSING: Final[dict[str, ModuleType]] = {
    "image": legacy_image,
    "sequence": legacy_sequence,
    "text": legacy_text,
}

# What Keras 2's `compile` took and Keras 3's does not. None of them changes a number.
_OLD_COMPILE: Final = ("experimental_run_tf_function", "sample_weight_mode", "target_tensors", "distribute")


def accept_auto_reduction() -> None:
    """Losses take `reduction="auto"`, which is the average over the batch."""
    original = loss_module.standardize_reduction
    loss_module.standardize_reduction = lambda reduction: original(
        "sum_over_batch_size" if reduction == "auto" else reduction
    )


def build_with_shapes(shapes: Callable[[Any], Any]) -> None:
    """Layers are built with ``shapes`` of the dict of shapes that Keras would build them with."""
    original = layer_module.get_shapes_dict
    layer_module.get_shapes_dict = lambda call_spec: shapes(original(call_spec))


def register_shape_as_tuple(shape: type) -> None:
    """Keras's nests open shapes of this class as they open tuples: layers find the size of a batch in that way."""
    optree.register_pytree_node(
        shape, lambda sizes: (tuple(sizes), None), lambda _, sizes: shape(sizes), namespace="keras"
    )


def accept_keras2_compile_arguments() -> None:
    """`compile` takes metrics as the third by position, as Keras 2 did, and drops arguments that mean nothing any
    more."""
    original = Trainer.compile

    @functools.wraps(original)
    def compile(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) in (3, 4) and _are_metrics(args[2]):
            args, kwargs = args[:2], kwargs | dict(zip(("metrics", "loss_weights"), args[2:], strict=False))
        kept = {name: value for name, value in kwargs.items() if name not in _OLD_COMPILE}
        for name in ("metrics", "weighted_metrics"):
            if isinstance(kept.get(name), str) or callable(kept.get(name)):  # one, without a list around it
                kept[name] = [kept[name]]
        original(self, *args, **kept)

    Trainer.compile = compile


def _are_metrics(value: Any) -> bool:
    """Whether there is a metric among the leaves; weights of losses are numbers."""
    return any(isinstance(leaf, str) or callable(leaf) for leaf in keras.tree.flatten(value))


def refuse_symbolic_losses(text: str) -> None:
    """`add_loss` of functional models, which refuses without a word, says ``text``."""

    def add_loss(self: Any, loss: Any) -> None:
        raise NotImplementedError(text)

    Functional.add_loss = add_loss


class CompiledLoss:
    """`model.compiled_loss` of Keras 2: the loss that was given to `compile`. Calling it notes it for the logs."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None, regularization_losses: Any = None) -> Any:
        """The loss of a batch, with other losses added to it."""
        losses = list(regularization_losses or ())
        if self._model._compile_loss is not None:
            found = self._model._compile_loss(y_true, y_pred, sample_weight)
            losses = losses if found is None else [found, *losses]
        if not losses:
            raise ValueError("compiled_loss was called, and there is no loss. Give compile() one: loss=...")
        total = functools.reduce(keras.ops.add, losses)
        rows = keras.tree.flatten(y_pred)[0].shape[0]
        self._model._loss_tracker.update_state(total, sample_weight=rows)
        return total

    @property
    def metrics(self) -> list[Any]:
        """The metric that the loss is noted in."""
        return [self._model._loss_tracker]

    def reset_state(self) -> None:
        """Begins anew."""
        self._model._loss_tracker.reset_state()


class CompiledMetrics:
    """`model.compiled_metrics` of Keras 2: the metrics that were given to `compile`."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Adds a batch."""
        if self._model._compile_metrics is not None:
            self._model._compile_metrics.update_state(y_true, y_pred, sample_weight)

    @property
    def metrics(self) -> list[Any]:
        """The metrics, once they have seen a batch."""
        compiled = self._model._compile_metrics
        return [] if compiled is None or not compiled.built else list(compiled.metrics)

    def result(self) -> dict[str, Any]:
        """Their results by name."""
        return {} if self._model._compile_metrics is None else dict(self._model._compile_metrics.result())

    def reset_state(self) -> None:
        """Begins anew."""
        if self._model._compile_metrics is not None:
            self._model._compile_metrics.reset_state()


def metric_names(model: Any) -> list[str]:
    """The names of a compiled model's logs, as far as they are known: those of metrics after the first batch."""
    names = []
    for metric in model.metrics:
        if metric is not model._compile_metrics:
            names.append(metric.name)
        elif metric.built:
            names += list(metric.result())
    return names
