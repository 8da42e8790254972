"""Images: from bytes to arrays and back, under TensorFlow's names. JPEG by simplejpeg; PNG, GIF and BMP by Pillow.

Both libraries are optional, so they are imported with the first image.
"""

from __future__ import annotations

import importlib
import io
import os
import struct
import zlib
from functools import cache
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.files._values import bytes_scalar
from unisono_launch._install_command import install_command

_FORMATS: Final = ("JPEG", "PNG", "GIF", "BMP")
_MODES: Final = {1: "L", 3: "RGB", 4: "RGBA"}  # Pillow's name for each number of channels
_PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_PNG_COLOR_TYPES: Final = {1: 0, 2: 4, 3: 2, 4: 6}  # PNG's number for each number of channels
_MAX_PIXELS: Final = 1 << 24  # larger JPEGs are left to Pillow, which checks for decompression bombs


class ImageError(ValueError):
    """An image cannot be decoded: it is cut off, damaged, or no image at all."""


@cache
def pillow() -> ModuleType:
    """`PIL.Image`, or a sentence about where to get it."""
    return _import_codec("PIL.Image")


@cache
def simplejpeg() -> ModuleType:
    """`simplejpeg`, or a sentence about where to get it."""
    return _import_codec("simplejpeg")


def _import_codec(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"Images are read and written with Pillow and simplejpeg, and {name} could not be imported ({error}). "
            f"Type: {install_command('images')}"
        ) from error


def read_file(path: Any) -> NDArray[Any]:
    """The contents of a file, as an array without dimensions that holds bytes: what a map function passes on.

    `path` is a name or a Path, or an array without dimensions that holds a name, as datasets of names have them.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "greeting")
    >>> _ = path.write_bytes(b"hello")
    >>> read_file(path)
    array(b'hello', dtype=object)
    """
    name = path.item() if isinstance(path, np.ndarray) and path.ndim == 0 else path
    if not isinstance(name, str | bytes | os.PathLike):
        raise TypeError(
            f"read_file: expected the name of one file, got {_describe(path)}. "
            f"For many files write Dataset.from_tensor_slices(names).map(read_file)."
        )
    try:
        return bytes_scalar(_read_bytes(name))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"read_file: there is no file {os.fsdecode(name)!r}, seen from {os.getcwd()!r}. Check the name."
        ) from None


def _read_bytes(name: str | bytes | os.PathLike[Any]) -> bytes:
    """All of a file, without the file object of `open`: 10 µs less, of the 200 that a small JPEG takes."""
    descriptor = os.open(name, os.O_RDONLY)
    try:
        parts = [os.read(descriptor, os.fstat(descriptor).st_size)]
        while more := os.read(descriptor, 2**20):  # it grew, or it is no ordinary file
            parts.append(more)
    finally:
        os.close(descriptor)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def decode_image(contents: Any, channels: int = 0) -> NDArray[np.uint8]:
    """The pixels of an image, uint8 in the shape (height, width, channels). Not to be written into.

    `contents` is bytes, or an array without dimensions that holds bytes. `channels` is 1 for grey, 3 for RGB, 4 for
    RGBA, and 0 for what the image has. Of an animation this is the first frame.

    >>> image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    >>> np.array_equal(decode_image(encode_png(image)), image)
    True
    >>> decode_image(encode_png(image), channels=1).shape
    (2, 2, 1)
    """
    data = _as_bytes(contents)
    if channels not in (0, *_MODES):
        raise ValueError(
            f"decode_image: channels is {channels!r}. Expected 1 for grey, 3 for RGB, 4 for RGBA, 0 for what it has."
        )
    pixels = _decode_common_jpeg(data, channels)
    if pixels is not None:
        return pixels
    try:
        with pillow().open(io.BytesIO(data), formats=_FORMATS) as opened:
            opened.load()
            array = np.asarray(_convert_mode(opened, channels))
            return array if array.ndim == 3 else array[:, :, None]
    except ImportError:
        raise
    except Exception as error:  # Pillow raises OSError, SyntaxError, struct.error, ... for what is wrong in a file
        raise ImageError(_explain_failure(data, error)) from error


decode_jpeg = decode_image
decode_png = decode_image


def decode_16_bits(contents: Any, channels: int = 0) -> NDArray[np.uint16] | None:
    """The pixels of an image of 16 bits per channel as :func:`decode_image` has them; None for one of 8 bits.

    Raises :class:`ImageError` for one in color or with alpha: Pillow only reads its upper 8 bits.

    >>> image = np.full((2, 2, 1), 1000, np.uint16)
    >>> np.array_equal(decode_16_bits(encode_png(image)), image)
    True
    """
    data = _as_bytes(contents)
    bit_depth, color_type = data[24:26] if data.startswith(_PNG_SIGNATURE) and len(data) > 25 else (8, 0)
    if bit_depth != 16:
        return None
    if color_type != 0:
        raise ImageError(
            "decode_image: this is a PNG of 16 bits per channel in color or with alpha, of which only the upper 8 bits "
            "can be read. Decode it as uint8, or save it in grey without alpha."
        )
    try:
        with pillow().open(io.BytesIO(data), formats=("PNG",)) as opened:
            grey = np.asarray(opened).astype(np.uint16)[:, :, None]
    except ImportError:
        raise
    except Exception as error:
        raise ImageError(_explain_failure(data, error)) from error
    if channels < 3:
        return grey
    opaque = [np.full_like(grey, 0xFFFF)] if channels == 4 else []
    return np.concatenate([grey, grey, grey, *opaque], 2)


def encode_jpeg(image: Any, quality: int = 95) -> bytes:
    """An image as a JPEG file: uint8 in the shape (height, width, 1 or 3). Some detail is lost.

    >>> decode_jpeg(encode_jpeg(np.full((4, 5, 3), 128, np.uint8)))[0, 0]
    array([128, 128, 128], dtype=uint8)
    """
    if not 0 <= quality <= 100:
        raise ValueError(
            f"encode_jpeg: quality is {quality!r}. Expected 0 to 100: write encode_jpeg(image, quality=95)."
        )
    return _encode(image, (1, 3), "encode_jpeg", "JPEG", quality=quality)


def encode_png(image: Any) -> bytes:
    """An image as a PNG file: uint8 or uint16 in the shape (height, width, 1 to 4). Nothing is lost.

    >>> encode_png(np.zeros((4, 5, 1), np.uint8))[1:4]
    b'PNG'
    """
    pixels = np.asarray(image)
    if pixels.dtype == np.uint16 and pixels.ndim == 3 and pixels.shape[2] in _PNG_COLOR_TYPES and pixels.size:
        return _encode_16_bits(pixels)
    return _encode(image, (1, 2, 3, 4), "encode_png", "PNG")


def _as_bytes(contents: Any) -> bytes:
    data = contents.item() if isinstance(contents, np.ndarray) and contents.ndim == 0 else contents
    if isinstance(data, bytes):
        return data
    if isinstance(data, bytearray | memoryview):
        return bytes(data)
    raise TypeError(
        f"decode_image: expected the bytes of one image, got {_describe(contents)}. "
        f"For a file write decode_image(read_file(path)); for many, dataset.map(decode_image) before batch."
    )


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of {value.dtype} of shape {value.shape}"
    return f"{value!r} ({type(value).__name__})"


def _decode_common_jpeg(data: bytes, channels: int) -> NDArray[np.uint8] | None:
    """A JPEG in a common colour space. None for any other, and for a damaged one: Pillow then says what is wrong.

    Pillow gives the same pixels, but packs them while it holds Python's lock, so that two threads are hardly
    faster than one.
    """
    if channels == 4 or not data.startswith(b"\xff\xd8"):
        return None
    try:
        height, width, colours, _ = simplejpeg().decode_jpeg_header(data)
        if colours not in ("YCbCr", "Gray", "RGB") or height * width > _MAX_PIXELS:
            return None
        # Grey is the file's own luminance, as in TensorFlow.
        wanted = "GRAY" if (channels or (1 if colours == "Gray" else 3)) == 1 else "RGB"
        decoded: NDArray[np.uint8] = simplejpeg().decode_jpeg(data, colorspace=wanted)
    except ValueError:
        return None
    return decoded


def _convert_mode(image: Any, channels: int) -> Any:
    """In 8 bits, with as many channels as were asked for."""
    if image.mode.startswith("I"):  # 16 bits of grey: the upper 8, as in TensorFlow
        image = pillow().fromarray((np.asarray(image) >> 8).astype(np.uint8))
    mode = _MODES.get(channels) or _natural_mode(image)
    if image.mode == "P" and "transparency" in image.info:  # Pillow wants this step, and warns where it is left out
        image = image.convert("RGBA")
    return image if image.mode == mode else image.convert(mode)


def _natural_mode(image: Any) -> str:
    """The mode that keeps everything that the image has."""
    if image.mode in ("L", "LA", "RGB", "RGBA") and image.format != "GIF":
        return str(image.mode)
    if image.mode == "1":
        return "L"
    transparent = image.mode in ("PA", "RGBA") or "transparency" in image.info
    return "RGBA" if transparent and image.format != "GIF" else "RGB"


def _explain_failure(data: bytes, error: Exception) -> str:
    if isinstance(error, pillow().UnidentifiedImageError):
        return (
            f"decode_image: {len(data)} bytes that begin with {data[:8]!r} are not an image that can be read. "
            f"Expected {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}. Is the file cut off at its beginning, or a web "
            f"page that was saved under an image's name?"
        )
    said = str(error).strip() or type(error).__name__
    return (
        f"decode_image: an image of {len(data)} bytes cannot be decoded; Pillow says: {said}. It is cut off or "
        f"damaged: fetch the file again, or leave it out."
    )


def _encode(image: Any, allowed: tuple[int, ...], call: str, file_format: str, **options: Any) -> bytes:
    array = np.asarray(image)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] not in allowed or 0 in array.shape:
        raise ValueError(
            f"{call}: expected uint8 of shape (height, width, channels) with {' or '.join(map(str, allowed))} "
            f"channels, got {array.dtype} of shape {array.shape}. Write image.clip(0, 255).astype('uint8') first."
        )
    squeezed = array[:, :, 0] if array.shape[2] == 1 else array
    file = io.BytesIO()
    pillow().fromarray(np.ascontiguousarray(squeezed)).save(file, file_format, **options)
    return file.getvalue()


def _encode_16_bits(pixels: NDArray[np.uint16]) -> bytes:
    """A PNG file without filters: Pillow writes 16 bits in grey only."""
    height, width, channels = pixels.shape
    rows = np.ascontiguousarray(pixels.astype(">u2")).view(np.uint8).reshape(height, -1)
    unfiltered = np.concatenate([np.zeros((height, 1), np.uint8), rows], 1).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 16, _PNG_COLOR_TYPES[channels], 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(unfiltered)), (b"IEND", b"")]
    return _PNG_SIGNATURE + b"".join(_png_chunk(kind, body) for kind, body in chunks)


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
