"""`tf.saved_model.save`."""

from __future__ import annotations

import os
from typing import Any

import jax
import keras

from unisono._src.state import store
from unisono.tf._paths import to_local_path
from unisono.tf.saved_model._format import DEFAULT_SERVING_SIGNATURE_DEF_KEY, KIND, VERSION
from unisono.tf.saved_model._graph import ObjectGraph
from unisono.tf.saved_model._keras_model import input_names, specialize_prediction
from unisono.tf.saved_model._signatures import add_signature, default_signature, requested_signatures


def save(obj: Any, export_dir: str | os.PathLike[str], signatures: Any = None, options: Any = None) -> None:
    """Writes a folder with the variables of ``obj`` and its functions, as portable programs.

    The folder is written atomically. It can be loaded without the code of the model, on CPUs, GPUs and
    TPUs, and under any strategy.

    Args:
        obj: a `tf.Module`, whose `tf.function`s are saved for the arguments of their `input_signature`, or those that
            they were called with; or a built Keras model, whose prediction (`training=False`) is saved.
        export_dir: the folder. An existing SavedModel is replaced.
        signatures: a `tf.function` with an input_signature, what `get_concrete_function` returned, or a dict of these.
        options: a `SaveOptions`.
    """
    write(obj, export_dir, requested_signatures(signatures))


def export_model(model: Any, filepath: str | os.PathLike[str], input_signature: Any = None) -> None:
    """`model.export(folder)`: the prediction is the function `serve` and the default signature."""
    write(model, filepath, {}, endpoint="serve", input_signature=input_signature)


def write(
    obj: Any, folder: Any, requested: dict[str, Any], endpoint: str | None = None, input_signature: Any = None
) -> None:
    """Writes the folder, for :func:`save` and :func:`export_model`."""
    graph = ObjectGraph(obj)
    entries = {name: add_signature(graph, name, specialization) for name, specialization in requested.items()}
    if isinstance(obj, keras.Model):
        specialization = specialize_prediction(obj, input_signature)
        index = graph.add_function(obj.name, specialization.function, [specialization])  # type: ignore[arg-type]
        names = input_names(obj, len(graph.programs(index)[0]["specs"]))
        entries.setdefault(
            DEFAULT_SERVING_SIGNATURE_DEF_KEY,
            add_signature(graph, DEFAULT_SERVING_SIGNATURE_DEF_KEY, specialization, names, requested=False),
        )
        graph.add_root_function("__call__", index)
        if endpoint is not None:
            graph.add_root_function(endpoint, index)
            entries.setdefault(endpoint, entries[DEFAULT_SERVING_SIGNATURE_DEF_KEY])
    elif not requested:
        default = default_signature(obj)
        if default is not None:
            key = DEFAULT_SERVING_SIGNATURE_DEF_KEY
            entries[key] = add_signature(graph, key, default, requested=False)
    state = graph.state({name: signature for name, signature in entries.items() if signature is not None})
    store.commit(
        to_local_path(folder, "tf.saved_model.save"),
        arrays=graph.arrays,
        state={"kind": KIND, "version": VERSION, **state},
        info={"jax": jax.__version__, "keras": keras.__version__},
    )
