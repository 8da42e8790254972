"""Embeddings for TensorBoard's projector: a table of text for each layer, and the file that names them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import keras
import numpy as np

from unisono._src.state.store import staged_file

_CONFIG: Final = "projector_config.pbtxt"  # the projector looks for this name
_TABLES: Final = "embeddings"


def embedding_layers(model: Any) -> Sequence[Any]:
    """The layers that the projector can show."""
    return [layer for layer in model.layers if isinstance(layer, keras.layers.Embedding)]


def check_metadata(model: Any, metadata: str | Mapping[str, str] | None) -> None:
    """Raises if ``metadata`` names a layer that does not exist."""
    names = [layer.name for layer in embedding_layers(model)]
    unknown = [] if metadata is None or isinstance(metadata, str) else [name for name in metadata if name not in names]
    if unknown:
        raise ValueError(
            f"TensorBoard: embeddings_metadata names {unknown}, which are not Embedding layers of {model.name!r}. "
            f"It has {names or 'none'}. Write embeddings_metadata={{layer.name: 'labels.tsv'}}."
        )


def write_embeddings(folder: Path, model: Any, metadata: str | Mapping[str, str] | None) -> None:
    """Writes the present embeddings, over those of earlier epochs."""
    entries = []
    for layer in embedding_layers(model):
        table = Path(_TABLES, f"{layer.name.replace('/', '_')}.tsv")
        with staged_file(folder / table) as path:
            np.savetxt(path, np.asarray(layer.embeddings, np.float32), fmt="%.8g", delimiter="\t")
        labels = metadata if metadata is None or isinstance(metadata, str) else metadata.get(layer.name)
        entries.append(_entry(layer.embeddings.path, os.fspath(table), labels))
    if entries:
        # Last: the projector answers with an error if a table that is named here is missing.
        with staged_file(folder / _CONFIG) as path:
            path.write_text("".join(entries))


def _entry(name: str, table: str, labels: str | None) -> str:
    fields = {"tensor_name": name, "tensor_path": table, "metadata_path": labels}
    lines = [f"  {key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items() if value]
    return f"embeddings {{\n{''.join(lines)}}}\n"
