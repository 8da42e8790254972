"""`tf.saved_model.save`."""

from __future__ import annotations

import os
from typing import Any

import jax
import keras

from unisono._src.state import store
from unisono.tf._paths import to_local_path
from unisono.tf.saved_model._constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from unisono.tf.saved_model._format import KIND, VERSION
from unisono.tf.saved_model._graph import Graph
from unisono.tf.saved_model._keras_model import input_names, prediction
from unisono.tf.saved_model._signatures import add_signature, asked_signatures, default_signature


def save(obj: Any, export_dir: str | os.PathLike[str], signatures: Any = None, options: Any = None) -> None:
    """Writes a folder with the variables of ``obj`` and its functions, compiled as far as that can be done beforehand.

    The folder is there completely or not at all. It can be loaded without the code of the model, on CPUs, GPUs and
    TPUs, and under any strategy.

    Args:
        obj: a `tf.Module`, whose `tf.function`s are saved for the arguments of their `input_signature`, or those that
            they were called with; or a built Keras model, of which the prediction is saved: `training=False`.
        export_dir: the folder. A SavedModel that is there already is replaced.
        signatures: a `tf.function` with an input_signature, what `get_concrete_function` returned, or a dict of these.
        options: a `SaveOptions`.
    """
    write(obj, export_dir, asked_signatures(signatures))


def export_model(model: Any, filepath: str | os.PathLike[str], input_signature: Any = None) -> None:
    """What `model.export(folder)` does: the prediction is the function `serve` and the default signature."""
    write(model, filepath, {}, endpoint="serve", input_signature=input_signature)


def write(
    obj: Any, folder: Any, asked: dict[str, Any], endpoint: str | None = None, input_signature: Any = None
) -> None:
    """Writes the folder, for :func:`save` and :func:`export_model`."""
    graph = Graph(obj)
    found = {name: add_signature(graph, name, kind) for name, kind in asked.items()}
    if isinstance(obj, keras.Model):
        kind = prediction(obj, input_signature)
        number = graph.add_function(obj.name, kind.function, [kind])  # type: ignore[arg-type]
        names = input_names(obj, len(graph.programs(number)[0]["specs"]))
        found.setdefault(
            DEFAULT_SERVING_SIGNATURE_DEF_KEY,
            add_signature(graph, DEFAULT_SERVING_SIGNATURE_DEF_KEY, kind, names, asked=False),
        )
        graph.add_root_function("__call__", number)
        if endpoint is not None:
            graph.add_root_function(endpoint, number)
            found.setdefault(endpoint, found[DEFAULT_SERVING_SIGNATURE_DEF_KEY])
    elif not asked:
        default = default_signature(obj)
        if default is not None:
            key = DEFAULT_SERVING_SIGNATURE_DEF_KEY
            found[key] = add_signature(graph, key, default, asked=False)
    state = graph.state({name: signature for name, signature in found.items() if signature is not None})
    store.commit(
        to_local_path(folder, "tf.saved_model.save"),
        arrays=graph.arrays,
        state={"kind": KIND, "version": VERSION, **state},
        info={"jax": jax.__version__, "keras": keras.__version__},
    )
