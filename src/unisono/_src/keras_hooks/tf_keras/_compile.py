"""Hooks: `compile`, losses and casts as in Keras 2.

Checked against Keras 3.15.1: losses check their `reduction` by `standardize_reduction`; `Trainer.compile` is the one of
all models (loading compares it, so it is replaced there). `CompileLoss.call` puts a dict of targets into the order of
`output_names` where the model returns a list, and leaves a dict of weights as it is, which ends in `KeyError: 0`.
`keras.ops.cast` calls `backend.core.cast`.
"""

from __future__ import annotations

from typing import Any, Final

import jax
import keras
from keras.src import backend
from keras.src.losses import loss as loss_module
from keras.src.ops.core import Cast
from keras.src.trainers.compile_utils import CompileLoss
from keras.src.trainers.trainer import Trainer

from unisono._src import hooks
from unisono._src.keras_hooks._trainer import COMPILE_SIGNATURE

# What Keras 2's `compile` took and Keras 3's does not. None of them changes a number.
_KERAS2_COMPILE: Final = ("experimental_run_tf_function", "sample_weight_mode", "target_tensors", "distribute")

OTHER_NAMES = """sample_weight has the keys {found}, and the outputs of the model are {expected}. Give a weight for each
output by its name, or one array for all of them."""


def install_auto_reduction() -> None:
    """Installs the hook by which losses take `reduction="auto"`, which is the average over the batch."""
    why = 'tf.keras.losses.Reduction.AUTO is "auto"'
    hooks.wrap(
        loss_module,
        "standardize_reduction",
        lambda original: lambda reduction: original("sum_over_batch_size" if reduction == "auto" else reduction),
        expects="(reduction)",
        why=why,
    )
    hooks.require(loss_module.Loss, "__init__", expects="calls standardize_reduction", why=why)


def install_flat_targets() -> None:
    """Installs the hook by which targets of shape (batch,) are compared with each of several outputs.

    Keras 2 gave all targets a last dimension. Keras 3 gives it to arrays, and not to the batches of a dataset.
    """
    why = "targets of shape (batch,) fit outputs of shape (batch, 10), as in Keras 2"
    hooks.wrap(CompileLoss, "call", _expand_flat_targets, expects="(self, y_true, y_pred, sample_weight=None)", why=why)
    hooks.require(CompileLoss, "_user_loss", expects="instance attribute", why=why)


def install_keras2_compile_arguments() -> None:
    """Installs the hook by which `compile` takes metrics as the third argument by position, as Keras 2 did, and drops
    arguments that mean nothing any more."""
    why = "compile accepts the arguments of Keras 2"
    hooks.wrap(Trainer, "compile", _convert_compile_arguments, expects=COMPILE_SIGNATURE, why=why)


def install_named_sample_weights() -> None:
    """Installs the hook by which sample weights go by the names of outputs, for models that return a list."""
    why = "sample_weight={name: ...} works for models that return a list of outputs"
    hooks.wrap(
        CompileLoss,
        "call",
        _order_sample_weights,
        expects="(self, y_true, y_pred, sample_weight=None)",
        why=why,
    )
    hooks.require(CompileLoss, "output_names", expects="instance attribute", why=why)


def install_casts_without_warnings() -> None:
    """Installs the hook by which Keras casts to 64 bits, as its MeanIoU does, without JAX's warning."""
    why = "no warning of JAX for casts to 64 bits inside Keras"
    hooks.wrap(
        backend.core,
        "cast",
        lambda original: lambda x, dtype: original(x, _dtype_on_devices(dtype)),
        expects="(x, dtype)",
        why=why,
    )
    hooks.require(Cast, "call", expects="calls backend.core.cast", why=why)


def _convert_compile_arguments(original: Any) -> Any:
    def compile(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) in (3, 4) and _are_metrics(args[2]):
            args, kwargs = args[:2], kwargs | dict(zip(("metrics", "loss_weights"), args[2:], strict=False))
        kept = {name: value for name, value in kwargs.items() if name not in _KERAS2_COMPILE}
        for name in ("metrics", "weighted_metrics"):
            if isinstance(kept.get(name), str) or callable(kept.get(name)):  # one, without a list around it
                kept[name] = [kept[name]]
        original(self, *args, **kept)

    return compile


def _are_metrics(value: Any) -> bool:
    """Whether there is a metric among the leaves; weights of losses are numbers."""
    return any(isinstance(leaf, str) or callable(leaf) for leaf in keras.tree.flatten(value))


def _order_sample_weights(original: Any) -> Any:
    def call(self: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        names = self.output_names
        if isinstance(sample_weight, dict) and isinstance(y_pred, list | tuple) and names:
            if set(sample_weight) != set(names):
                raise ValueError(OTHER_NAMES.format(found=sorted(sample_weight), expected=list(names)))
            sample_weight = [sample_weight[name] for name in names]
        return original(self, y_true, y_pred, sample_weight)

    return call


def _dtype_on_devices(dtype: Any) -> Any:
    """What a dtype becomes on devices: 32 bits for 64, unless JAX is configured otherwise."""
    name = keras.backend.standardize_dtype(dtype)
    return str(jax.dtypes.canonicalize_dtype(name)) if name.endswith("64") else name


# Losses that subtract. Of the others some take targets without a last dimension as they are: class numbers.
_DIFFERENCES: Final = ("mse", "MSE", "mean_squared_error", "mae", "MAE", "mean_absolute_error")
_DIFFERENCE_CLASSES: Final = (keras.losses.MeanSquaredError, keras.losses.MeanAbsoluteError)


def _expand_flat_targets(original: Any) -> Any:
    def call(self: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        loss = self._user_loss
        name = loss if isinstance(loss, str) else getattr(loss, "__name__", "")
        if name in _DIFFERENCES or isinstance(loss, _DIFFERENCE_CLASSES):
            shape: Any = getattr(y_true, "shape", ())
            outputs: Any = getattr(y_pred, "shape", ())
            if len(shape) == 1 and len(outputs) == 2 and outputs[1] != 1:
                y_true = keras.ops.expand_dims(y_true, -1)
        return original(self, y_true, y_pred, sample_weight)

    return call
