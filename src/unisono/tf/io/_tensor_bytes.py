"""Tensors as bytes: `serialize_tensor`, `parse_tensor`, `decode_raw`, base64 and compression."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any, Final

import numpy as np

from unisono._src.data import files
from unisono.tf import errors
from unisono.tf._dtypes import as_dtype
from unisono.tf._tensors import HostTensor, as_bytes, convert_to_tensor, to_host_tensor
from unisono.tf.io._bytes import map_byte_strings, to_byte_string, to_byte_strings, to_byte_tensor

_WINDOW: Final = {"GZIP": zlib.MAX_WBITS | 16, "ZLIB": zlib.MAX_WBITS}


def serialize_tensor(tensor: Any, name: str | None = None) -> HostTensor:
    """Serializes a tensor as a TensorProto, as TensorFlow does.

    >>> parse_tensor(serialize_tensor([[1.5, 2.5]]), "float32")
    Tensor([[1.5, 2.5]], dtype=float32)
    """
    is_numpy = isinstance(tensor, np.ndarray | np.generic)
    return to_byte_tensor(files.serialize_tensor(np.asarray(tensor if is_numpy else convert_to_tensor(tensor))))


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> HostTensor:
    """Parses a serialized TensorProto; an error if its dtype is not ``out_type``."""
    try:
        found = files.parse_tensor(to_byte_string(serialized, "tf.io.parse_tensor"))
    except files.ExampleError as error:
        raise errors.InvalidArgumentError(None, None, f"tf.io.{error}") from error
    if as_dtype(found.dtype) != as_dtype(out_type):
        message = f"tf.io.parse_tensor: the tensor is {as_dtype(found.dtype).name}, not {as_dtype(out_type).name}."
        raise errors.InvalidArgumentError(None, None, message)
    return to_host_tensor(found)


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> HostTensor:
    """Interprets bytes as numbers; several byte strings give a row each."""
    dtype = as_dtype(out_type).dtype
    texts = to_byte_strings(input_bytes, "tf.io.decode_raw")
    if fixed_length is not None:
        texts = map_byte_strings(lambda data: data[:fixed_length].ljust(fixed_length, b"\0"), texts, "tf.io.decode_raw")
    try:
        return to_host_tensor(files.decode_raw(texts, dtype if little_endian else dtype.newbyteorder(">")))
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, f"tf.io.{error}") from error


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> HostTensor:
    """Encodes bytes as URL-safe base64, with trailing `=` if ``pad``."""

    def encode(data: bytes) -> bytes:
        encoded = base64.urlsafe_b64encode(data)
        return encoded if pad else encoded.rstrip(b"=")

    return map_byte_strings(encode, input, "tf.io.encode_base64")


def decode_base64(input: Any, name: str | None = None) -> HostTensor:
    """The inverse of :func:`encode_base64`."""

    def decode(encoded: bytes) -> bytes:
        padded = encoded.rstrip(b"=") + b"=" * (-len(encoded.rstrip(b"=")) % 4)
        try:
            return base64.b64decode(padded, altchars=b"-_", validate=True)
        except binascii.Error as error:
            raise errors.InvalidArgumentError(None, None, f"tf.io.decode_base64: {encoded!r}: {error}") from error

    return map_byte_strings(decode, input, "tf.io.decode_base64")


def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> HostTensor:
    """Decompresses "GZIP" or "ZLIB" data."""
    if compression_type not in ("", *_WINDOW):
        raise ValueError(
            f"tf.io.decode_compressed: compression_type is {compression_type!r}. Expected 'GZIP' or 'ZLIB'."
        )

    def decompress(data: Any) -> Any:
        try:
            return zlib.decompress(data, _WINDOW[compression_type]) if compression_type else as_bytes(data)
        except zlib.error as error:
            raise errors.DataLossError(None, None, f"tf.io.decode_compressed: {error}") from error

    return map_byte_strings(decompress, bytes, "tf.io.decode_compressed")
