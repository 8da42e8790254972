"""A dataset of the images in a folder, as `keras.utils.image_dataset_from_directory` makes it, without TensorFlow."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.dataset._folder_dataset import check_one_of, make_folder_datasets
from unisono._src.data.dataset._folder_files import FileKind
from unisono._src.data.files import RESIZE_METHODS, ImageError, decode_image, read_file, resize

_CALL: Final = "image_dataset_from_directory"
KIND: Final = FileKind(_CALL, "image", (".bmp", ".gif", ".jpeg", ".jpg", ".png"))
_CHANNELS: Final = {"grayscale": 1, "rgb": 3, "rgba": 4}


def image_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    color_mode: str = "rgb",
    batch_size: int | None = 32,
    image_size: int | Sequence[int] = (256, 256),
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    interpolation: str = "bilinear",
    follow_links: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    data_format: str = "channels_last",
    verbose: bool = True,
) -> Any:
    """Batches `(images, labels)` of the image files in a folder, whose sub-folders are the classes.

    Images are float32 from 0 to 255, resized to `image_size` as `tf.image.resize` does it. They are read and
    decoded by threads. All file names are shuffled, in a new order in each pass.

    Labels are int32 numbers; float32 of shape (1,) for `label_mode="binary"`, one-hot float32 for "categorical", and
    absent for None. `labels` may also be a list of numbers, one for each file in the order of sorted paths, or None.

    `validation_split=0.2` with `subset="training"`, "validation" or "both" (a pair) splits the files. Give a seed,
    or `shuffle=False`, so that two calls make the same split. `class_names` and `file_paths` are attributes of the
    result.

    >>> import pathlib, tempfile
    >>> from unisono.io import encode_png
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("cats", "dogs"):
    ...     (folder / name).mkdir()
    ...     _ = (folder / name / "1.png").write_bytes(encode_png(np.zeros((8, 8, 3), np.uint8)))
    >>> dataset = image_dataset_from_directory(folder, image_size=(4, 4), shuffle=False)
    Found 2 files belonging to 2 classes.
    >>> dataset.class_names
    ['cats', 'dogs']
    >>> [(images.size, labels.tolist()) for images, labels in dataset]
    [(96, [0, 1])]
    """
    check_one_of(_CALL, "color_mode", color_mode, tuple(_CHANNELS))
    check_one_of(_CALL, "interpolation", interpolation, RESIZE_METHODS)
    check_one_of(_CALL, "data_format", data_format, ("channels_last", "channels_first"))
    load = _make_loader(
        _CHANNELS[color_mode],
        _make_resizer(_check_size(image_size), interpolation, crop_to_aspect_ratio, pad_to_aspect_ratio),
        data_format == "channels_first",
    )
    return make_folder_datasets(
        KIND,
        load,
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


def _make_loader(
    num_channels: int, fit: Callable[[NDArray[Any]], NDArray[np.float32]], channels_first: bool
) -> Callable[..., Any]:
    def load_image(path: Any, *label: Any) -> Any:
        try:
            image = fit(decode_image(read_file(path), num_channels))
        except ImageError as error:
            raise ImageError(f"{os.fsdecode(path.item())}: {error}") from error
        image = image.transpose(2, 0, 1) if channels_first else image
        return (image, *label) if label else image

    return load_image


def _make_resizer(
    size: tuple[int, int], method: str, crop: bool, pad: bool
) -> Callable[[NDArray[Any]], NDArray[np.float32]]:
    """A function that resizes an image of any size to this size."""
    height, width = size

    def crop_and_resize(image: NDArray[Any]) -> NDArray[np.float32]:
        """The largest part in the middle with the wanted aspect ratio."""
        rows, columns = image.shape[:2]
        kept_rows = max(1, min(rows, int(columns * height / width)))
        kept_columns = max(1, min(columns, int(rows * width / height)))
        top, left = (rows - kept_rows) // 2, (columns - kept_columns) // 2
        part = image[top : top + kept_rows, left : left + kept_columns]
        return resize(np.ascontiguousarray(part), size, method)

    def resize_and_pad(image: NDArray[Any]) -> NDArray[np.float32]:
        """The whole image with its aspect ratio, in the middle of a black image."""
        rows, columns = image.shape[:2]
        ratio = max(rows / height, columns / width)
        inner = (max(1, int(rows / ratio)), max(1, int(columns / ratio)))
        top, left = int((height - rows / ratio) / 2), int((width - columns / ratio) / 2)
        result = np.zeros((*size, image.shape[2]), np.float32)
        result[top : top + inner[0], left : left + inner[1]] = resize(image, inner, method)
        return result

    if crop and pad:
        raise ValueError(
            f"{_CALL}: crop_to_aspect_ratio and pad_to_aspect_ratio are both True. Expected one of them at most."
        )
    if crop:
        return crop_and_resize
    return resize_and_pad if pad else lambda image: resize(image, size, method)


def _check_size(image_size: Any) -> tuple[int, int]:
    pair = (image_size, image_size) if isinstance(image_size, int) else image_size
    whole = isinstance(pair, tuple | list) and all(isinstance(dim, int | np.integer) and dim > 0 for dim in pair)
    if not whole or len(pair) != 2:
        raise ValueError(f"{_CALL}: image_size is {image_size!r}. Expected (height, width) in pixels: (256, 256), say.")
    return int(pair[0]), int(pair[1])
