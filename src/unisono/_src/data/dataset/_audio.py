"""A dataset of the WAV files in a folder, as `keras.utils.audio_dataset_from_directory` makes it."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from unisono._src.data.dataset._folder_dataset import make_folder_datasets
from unisono._src.data.dataset._folder_files import FileKind
from unisono._src.data.files import decode_wav, read_file

KIND: Final = FileKind("audio_dataset_from_directory", "audio", (".wav",))

RAGGED = """audio_dataset_from_directory: ragged=True is not supported. Without it, and without output_sequence_length,
a batch is padded with zeros to its longest file."""


def audio_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    batch_size: int | None = 32,
    sampling_rate: int | None = None,
    output_sequence_length: int | None = None,
    ragged: bool = False,
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    follow_links: bool = False,
    verbose: bool = True,
) -> Any:
    """Batches `(audio, labels)` of the `.wav` files in a folder, whose sub-folders are the classes.

    Audio has the shape (files, samples, channels), with samples between -1 and 1. Labels, splits, and the attributes
    `class_names` and `file_paths` of the result are the same as for `image_dataset_from_directory`.

    Args:
        directory: the folder.
        labels: "inferred" from the sub-folders, a list of numbers in the order of the sorted paths, or None.
        label_mode: "int", "categorical", "binary" or None.
        class_names: the sub-folders, in the order of their labels; sorted by name if None.
        batch_size: the number of files in a batch; None for no batches.
        sampling_rate: the samples per second that files are converted to; None keeps the rate of each file.
        output_sequence_length: the number of samples that files are cut or padded to. If None, a batch is padded to its
            longest file.
        ragged: not supported.
        shuffle: whether files are in random order.
        seed: the seed of that order, and of the split.
        validation_split: the fraction of the files that is used for validation.
        subset: "training", "validation", or "both" for a pair.
        follow_links: whether links to folders are followed.
        verbose: whether the number of files is printed.
    """
    if ragged:
        raise ValueError(RAGGED)
    for name, value in (("sampling_rate", sampling_rate), ("output_sequence_length", output_sequence_length)):
        if value is not None and value < 1:
            raise ValueError(f"{KIND.call}: {name} is {value}. Expected at least 1, or None.")

    def load_audio(path: Any, *label: Any) -> Any:
        audio, rate = decode_wav(read_file(path).item())
        if sampling_rate is not None and rate != sampling_rate:
            audio = _resample(audio, rate, sampling_rate)
        if output_sequence_length is not None:
            audio = audio[:output_sequence_length]
            audio = np.pad(audio, ((0, output_sequence_length - len(audio)), (0, 0)))
        return (audio, *label) if label else audio

    return make_folder_datasets(
        KIND,
        load_audio,
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
        pads=output_sequence_length is None,
    )


def _resample(audio: Any, before: int, after: int) -> Any:
    signal = importlib.import_module("scipy.signal")  # takes 0.3 s, and few files need it
    shared = math.gcd(before, after)
    return signal.resample_poly(audio, after // shared, before // shared, axis=0).astype(np.float32)
