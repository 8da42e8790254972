"""A dataset of the texts in a folder, as `keras.utils.text_dataset_from_directory` makes it, without TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from unisono._src.data.dataset._folder_dataset import make_folder_datasets
from unisono._src.data.dataset._folder_files import FileKind
from unisono._src.data.files import read_file

KIND: Final = FileKind("text_dataset_from_directory", "text", (".txt",))


def text_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    batch_size: int | None = 32,
    max_length: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    follow_links: bool = False,
    verbose: bool = True,
) -> Any:
    """Batches `(texts, labels)` of the `.txt` files in a folder, whose sub-folders are the classes.

    A text is the bytes of its file, at most the first `max_length` of them. Labels, splits, and the attributes
    `class_names` and `file_paths` of the result are the same as for `image_dataset_from_directory`.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("bad", "good"):
    ...     (folder / name).mkdir()
    ...     _ = (folder / name / "1.txt").write_text(f"a {name} film")
    >>> dataset = text_dataset_from_directory(folder, max_length=6, shuffle=False)
    Found 2 files belonging to 2 classes.
    >>> [(texts.tolist(), labels.tolist()) for texts, labels in dataset]
    [([b'a bad ', b'a good'], [0, 1])]
    """
    if max_length is not None and max_length < 1:
        raise ValueError(f"{KIND.call}: max_length is {max_length}. Expected a number of bytes, at least 1, or None.")

    def load_text(path: Any, *label: Any) -> Any:
        text = np.array(read_file(path).item()[:max_length], dtype=object)
        return (text, *label) if label else text

    return make_folder_datasets(
        KIND,
        load_text,
        directory,
        labels=labels,
        label_mode=label_mode,
        class_names=class_names,
        batch_size=batch_size,
        shuffle=shuffle,
        seed=seed,
        validation_split=validation_split,
        subset=subset,
        follow_links=follow_links,
        verbose=verbose,
    )
