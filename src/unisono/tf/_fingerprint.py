"""FarmHash's 64-bit fingerprint of bytes: the hash of TensorFlow's `to_hash_bucket_fast` and hashing layers.

The algorithm is public (google/farmhash, `farmhashna::Hash64`) and its results never change.
"""

from __future__ import annotations

from typing import Final

_MASK: Final = 2**64 - 1
_K0: Final = 0xC3A5C85C97CB3127
_K1: Final = 0xB492B66FBE98F273
_K2: Final = 0x9AE16A3B2F90404F


def fingerprint(text: bytes) -> int:
    """The fingerprint, an unsigned 64-bit number.

    >>> fingerprint(b"hello")
    13009744463427800296
    """
    length = len(text)
    if length <= 16:
        return _hash_up_to_16(text, length)
    if length <= 32:
        return _hash_up_to_32(text, length)
    if length <= 64:
        return _hash_up_to_64(text, length)
    return _hash_long(text, length)


def _word(text: bytes, offset: int) -> int:
    return int.from_bytes(text[offset : offset + 8], "little")


def _rotate(value: int, by: int) -> int:
    value &= _MASK
    return (value >> by | value << (64 - by)) & _MASK


def _shift_mix(value: int) -> int:
    value &= _MASK
    return value ^ value >> 47


def _hash_pair(first: int, second: int, factor: int) -> int:
    mixed = _shift_mix((first ^ second) * factor)
    return _shift_mix((second ^ mixed) * factor) * factor & _MASK


def _hash_up_to_16(text: bytes, length: int) -> int:
    factor = _K2 + length * 2
    if length >= 8:
        a, b = _word(text, 0) + _K2, _word(text, length - 8)
        return _hash_pair(_mask(_rotate(b, 37) * factor + a), _mask((_rotate(a, 25) + b) * factor), factor)
    if length >= 4:
        head, tail = int.from_bytes(text[:4], "little"), int.from_bytes(text[length - 4 :], "little")
        return _hash_pair(length + (head << 3), tail, factor)
    if length > 0:
        y, z = text[0] + (text[length >> 1] << 8), length + (text[-1] << 2)
        return _shift_mix(y * _K2 & _MASK ^ z * _K0 & _MASK) * _K2 & _MASK
    return _K2


def _hash_up_to_32(text: bytes, length: int) -> int:
    factor = _K2 + length * 2
    a, b = _word(text, 0) * _K1, _word(text, 8)
    c, d = _word(text, length - 8) * factor, _word(text, length - 16) * _K2
    return _hash_pair(_mask(_rotate(a + b, 43) + _rotate(c, 30) + d), _mask(a + _rotate(b + _K2, 18) + c), factor)


def _hash_up_to_64(text: bytes, length: int) -> int:
    factor = _K2 + length * 2
    a, b = _word(text, 0) * _K2, _word(text, 8)
    c, d = _word(text, length - 8) * factor, _word(text, length - 16) * _K2
    y = _mask(_rotate(a + b, 43) + _rotate(c, 30) + d)
    z = _hash_pair(y, _mask(a + _rotate(b + _K2, 18) + c), factor)
    e, f = _word(text, 16) * factor, _word(text, 24)
    g, h = (y + _word(text, length - 32)) * factor, (z + _word(text, length - 24)) * factor
    return _hash_pair(_mask(_rotate(e + f, 43) + _rotate(g, 30) + h), _mask(e + _rotate(f + a, 18) + g), factor)


def _hash_long(text: bytes, length: int) -> int:
    x, y = 81, 81 * _K1 + 113
    z = _shift_mix(y * _K2 + 113) * _K2
    v, w = (0, 0), (0, 0)
    x = _mask(x * _K2 + _word(text, 0))
    end = (length - 1) // 64 * 64
    for offset in range(0, end, 64):
        x, y, z, v, w = _round(text, offset, x, y, z, v, w, _K1, w[1], v[0])
    rest = (length - 1) & 63
    factor = _mask(_K1 + ((z & 0xFF) << 1))
    first = _mask(w[0] + rest)
    v = (_mask(v[0] + first), v[1])
    w = (_mask(first + v[0]), w[1])
    x, y, z, v, w = _round(text, end + rest - 63, x, y, z, v, w, factor, w[1] * 9, v[0] * 9)
    return _hash_pair(
        _mask(_hash_pair(v[0], w[0], factor) + _shift_mix(y) * _K0 + z),
        _mask(_hash_pair(v[1], w[1], factor) + x),
        factor,
    )


def _round(
    text: bytes,
    offset: int,
    x: int,
    y: int,
    z: int,
    v: tuple[int, int],
    w: tuple[int, int],
    factor: int,
    flipped: int,
    added: int,
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    x = _rotate(x + y + v[0] + _word(text, offset + 8), 37) * factor & _MASK
    y = _rotate(y + v[1] + _word(text, offset + 48), 42) * factor & _MASK
    x ^= _mask(flipped)
    y = _mask(y + added + _word(text, offset + 40))
    z = _rotate(z + w[0], 33) * factor & _MASK
    v = _weak_hash(text, offset, v[1] * factor, x + w[0])
    w = _weak_hash(text, offset + 32, z + w[1], y + _word(text, offset + 16))
    return z, y, x, v, w


def _weak_hash(text: bytes, offset: int, a: int, b: int) -> tuple[int, int]:
    first, second, third, fourth = (_word(text, offset + 8 * number) for number in range(4))
    a = _mask(a + first)
    b = _rotate(b + a + fourth, 21)
    total = _mask(a + second + third)
    return _mask(total + fourth), _mask(b + _rotate(total, 44) + a)


def _mask(value: int) -> int:
    return value & _MASK
