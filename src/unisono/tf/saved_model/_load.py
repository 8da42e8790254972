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
from unisono.tf.saved_model._constants import SERVING
from unisono.tf.saved_model._format import MODEL_FILE, read
from unisono.tf.saved_model._loaded import Loaded
from unisono.tf.saved_model._restored import Program, restored_function, restored_signature
from unisono.tf.saved_model._save import save

WRONG_TAGS = "tf.saved_model.load: tags is {tags!r}. What is saved here has the tag {known!r} alone: leave tags out."


def load(export_dir: str | os.PathLike[str], tags: Any = None, options: Any = None) -> Any:
    """What :func:`save` wrote, as an object with the same attributes. The code of the model is not needed.

    Also loads a folder that a Keras model's `save(folder)` wrote.

    The variables belong to the strategy in whose scope this is called. They can be read, assigned and trained.

    Args:
        export_dir: the folder.
        tags: accepted if it is "serve".
        options: a `LoadOptions`.
    """
    asked = [tags] if isinstance(tags, str) else list(tags or [SERVING])
    if asked != [SERVING]:
        raise ValueError(WRONG_TAGS.format(tags=tags, known=SERVING))
    folder = to_local_path(export_dir, "tf.saved_model.load")
    file = os.path.join(folder, MODEL_FILE)
    if os.path.isfile(file):
        return _load_model(file)
    stored = read(folder)
    try:
        return _Loading(stored).root()
    except (KeyError, IndexError, AttributeError, TypeError, ValueError) as error:
        # Its sums are right, so somebody else wrote it.
        raise BadCheckpoint(stored.folder, f"it is not as Unisono writes a SavedModel: {error!r}.") from error


def _load_model(file: str) -> Any:
    """A Keras model as if :func:`save` had written it. Keras makes it of its layers and of those it was told of."""
    with tempfile.TemporaryDirectory() as place:
        folder = os.path.join(place, "model")
        with context.outside_of_strategies():
            save(keras.models.load_model(file, compile=False), folder)
        return load(folder)


class _Loading:
    """The tables of a SavedModel, as objects."""

    def __init__(self, stored: LoadedCheckpoint) -> None:
        state, arrays = stored.state, stored.arrays
        self._nodes, self._signatures = state["nodes"], state["signatures"]
        self._variables = [_variable(entry, arrays) for entry in state["variables"]]
        self._programs = [
            [Program(each, arrays[each["array"]], self._variables) for each in entry["programs"]]
            for entry in state["functions"]
        ]
        self._functions = [
            restored_function(entry, programs)
            for entry, programs in zip(state["functions"], self._programs, strict=True)
        ]
        self._made: dict[int, Any] = {}

    def root(self) -> Any:
        """The object that was saved."""
        root = self._object(0)
        signatures = {
            name: restored_signature(name, entry, self._programs[entry["function"]][entry["program"]])
            for name, entry in self._signatures.items()
        }
        root.signatures = MappingProxyType(signatures)
        root._captured = self._variables  # also those that no attribute holds: the state of a generator, say
        return root

    def _object(self, number: int) -> Any:
        if number not in self._made:
            self._made[number] = self._new(number, self._nodes[number])
        return self._made[number]

    def _new(self, number: int, node: JSON) -> Any:
        if "variable" in node:
            return self._variables[node["variable"]]
        if "list" in node:
            return [self._object(each) for each in node["list"]]
        if "dict" in node:
            return {key: self._object(each) for key, each in node["dict"].items()}
        made = self._made[number] = Loaded()  # known before its attributes are, which may lead back to it
        for name, each in node["object"].items():
            object.__setattr__(made, name, self._object(each))
        for name, each in node["functions"].items():
            object.__setattr__(made, name, self._functions[each])
        return made


def _variable(entry: JSON, arrays: Any) -> Any:
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
