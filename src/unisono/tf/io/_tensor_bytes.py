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
from unisono.tf.io._bytes import byte_strings, byte_tensor, each, one_byte_string

_WINDOW: Final = {"GZIP": zlib.MAX_WBITS | 16, "ZLIB": zlib.MAX_WBITS}


def serialize_tensor(tensor: Any, name: str | None = None) -> HostTensor:
    """A tensor as the bytes of a TensorProto, as TensorFlow writes it.

    >>> parse_tensor(serialize_tensor([[1.5, 2.5]]), "float32")
    Tensor([[1.5, 2.5]], dtype=float32)
    """
    plain = isinstance(tensor, np.ndarray | np.generic)
    return byte_tensor(files.serialize_tensor(np.asarray(tensor if plain else convert_to_tensor(tensor))))


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> HostTensor:
    """The tensor in the bytes of a TensorProto; an error if its dtype is not ``out_type``."""
    try:
        found = files.parse_tensor(one_byte_string(serialized, "tf.io.parse_tensor"))
    except files.ExampleError as error:
        raise errors.InvalidArgumentError(None, None, f"tf.io.{error}") from error
    if as_dtype(found.dtype) != as_dtype(out_type):
        said = f"tf.io.parse_tensor: the tensor is {as_dtype(found.dtype).name}, not {as_dtype(out_type).name}."
        raise errors.InvalidArgumentError(None, None, said)
    return to_host_tensor(found)


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> HostTensor:
    """The numbers whose bytes these are; of several byte strings, a row for each."""
    dtype = as_dtype(out_type).dtype
    texts = byte_strings(input_bytes, "tf.io.decode_raw")
    if fixed_length is not None:
        texts = each(lambda data: data[:fixed_length].ljust(fixed_length, b"\0"), texts, "tf.io.decode_raw")
    try:
        return to_host_tensor(files.decode_raw(texts, dtype if little_endian else dtype.newbyteorder(">")))
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, f"tf.io.{error}") from error


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> HostTensor:
    """Bytes in the letters of web addresses, with `=` at the end if ``pad``."""

    def encoded(data: bytes) -> bytes:
        letters = base64.urlsafe_b64encode(data)
        return letters if pad else letters.rstrip(b"=")

    return each(encoded, input, "tf.io.encode_base64")


def decode_base64(input: Any, name: str | None = None) -> HostTensor:
    """What :func:`encode_base64` was given."""

    def decoded(letters: bytes) -> bytes:
        padded = letters.rstrip(b"=") + b"=" * (-len(letters.rstrip(b"=")) % 4)
        try:
            return base64.b64decode(padded, altchars=b"-_", validate=True)
        except binascii.Error as error:
            raise errors.InvalidArgumentError(None, None, f"tf.io.decode_base64: {letters!r}: {error}") from error

    return each(decoded, input, "tf.io.decode_base64")


def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> HostTensor:
    """What was compressed by "GZIP" or "ZLIB"."""
    if compression_type not in ("", *_WINDOW):
        raise ValueError(
            f"tf.io.decode_compressed: compression_type is {compression_type!r}. Expected 'GZIP' or 'ZLIB'."
        )

    def decompressed(data: Any) -> Any:
        try:
            return zlib.decompress(data, _WINDOW[compression_type]) if compression_type else as_bytes(data)
        except zlib.error as error:
            raise errors.DataLossError(None, None, f"tf.io.decode_compressed: {error}") from error

    return each(decompressed, bytes, "tf.io.decode_compressed")
