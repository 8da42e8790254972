"""`tf.saved_model.load`."""

from __future__ import annotations

import os
import tempfile
from types import MappingProxyType
from typing import Any

import keras

from unisono._src.replicas import context
from unisono._src.state.store import JSON, BadCheckpoint, LoadedCheckpoint
from unisono.tf._dtypes import to_jax_dtype
from unisono.tf._paths import to_local_path
from unisono.tf.saved_model._format import MODEL_FILE, SERVING, read_saved_model
from unisono.tf.saved_model._loaded import LoadedObject
from unisono.tf.saved_model._restored import RestoredProgram, restore_function, restore_signature
from unisono.tf.saved_model._save import save

WRONG_TAGS = "tf.saved_model.load: tags is {tags!r}. Expected {known!r}, the only tag, or None."


def load(export_dir: str | os.PathLike[str], tags: Any = None, options: Any = None) -> Any:
    """Loads what :func:`save` wrote as an object with the same attributes. The code of the model is not needed.

    Also loads a folder that a Keras model's `save(folder)` wrote.

    Called in the scope of a strategy, it creates the strategy's variables. They can be read, assigned and trained.

    Args:
        export_dir: the folder.
        tags: accepted if it is "serve".
        options: a `LoadOptions`.
    """
    requested = [tags] if isinstance(tags, str) else list(tags or [SERVING])
    if requested != [SERVING]:
        raise ValueError(WRONG_TAGS.format(tags=tags, known=SERVING))
    folder = to_local_path(export_dir, "tf.saved_model.load")
    file = os.path.join(folder, MODEL_FILE)
    if os.path.isfile(file):
        return _load_model(file)
    stored = read_saved_model(folder)
    try:
        return _ObjectLoader(stored).root()
    except (KeyError, IndexError, AttributeError, TypeError, ValueError) as error:
        # Its checksums are right, so it was not written by `save`.
        raise BadCheckpoint(stored.folder, f"it is not a SavedModel of Unisono's: {error!r}.") from error


def _load_model(file: str) -> Any:
    """Loads a `.keras` file as if :func:`save` had written it; custom layers have to be registered with Keras."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.path.join(temporary, "model")
        with context.outside_of_strategies():
            save(keras.models.load_model(file, compile=False), folder)
        return load(folder)


class _ObjectLoader:
    """Creates the objects of a SavedModel from its tables."""

    def __init__(self, stored: LoadedCheckpoint) -> None:
        state, arrays = stored.state, stored.arrays
        self._nodes, self._signatures = state["nodes"], state["signatures"]
        self._variables = [_create_variable(entry, arrays) for entry in state["variables"]]
        self._programs = [
            [RestoredProgram(each, arrays[each["array"]], self._variables) for each in entry["programs"]]
            for entry in state["functions"]
        ]
        self._functions = [
            restore_function(entry, programs)
            for entry, programs in zip(state["functions"], self._programs, strict=True)
        ]
        self._objects: dict[int, Any] = {}

    def root(self) -> Any:
        """The object that was saved."""
        root = self._get(0)
        signatures = {
            name: restore_signature(name, entry, self._programs_of(entry)) for name, entry in self._signatures.items()
        }
        root.signatures = MappingProxyType(signatures)
        root._captured = self._variables  # also those without an attribute, such as the state of a generator
        return root

    def _programs_of(self, signature: JSON) -> list[RestoredProgram]:
        programs, first = self._programs[signature["function"]], signature["program"]
        return [programs[index] for index in (first, *programs[first].other_ranks)]

    def _get(self, index: int) -> Any:
        if index not in self._objects:
            self._objects[index] = self._create(index, self._nodes[index])
        return self._objects[index]

    def _create(self, index: int, node: JSON) -> Any:
        if "variable" in node:
            return self._variables[node["variable"]]
        if "list" in node:
            return [self._get(each) for each in node["list"]]
        if "dict" in node:
            return {key: self._get(each) for key, each in node["dict"].items()}
        loaded = self._objects[index] = LoadedObject()  # registered before its attributes, which may refer to it
        for name, each in node["object"].items():
            object.__setattr__(loaded, name, self._get(each))
        for name, each in node["functions"].items():
            object.__setattr__(loaded, name, self._functions[each])
        return loaded


def _create_variable(entry: JSON, arrays: Any) -> Any:
    value = arrays[entry["array"]]
    return keras.Variable(
        value,
        dtype=to_jax_dtype(value.dtype).name,
        trainable=entry["trainable"],
        name=entry["name"],
        aggregation=entry["aggregation"],
        synchronization=entry["synchronization"],
        autocast=False,
    )
