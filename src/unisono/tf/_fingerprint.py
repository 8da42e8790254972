"""FarmHash's 64-bit fingerprint of bytes: what TensorFlow's `to_hash_bucket_fast` and hashing layers are made of.

The algorithm is public (google/farmhash, `farmhashna::Hash64`) and its results never change.
"""

from __future__ import annotations

from typing import Final

_MASK: Final = 2**64 - 1
_K0: Final = 0xC3A5C85C97CB3127
_K1: Final = 0xB492B66FBE98F273
_K2: Final = 0x9AE16A3B2F90404F


def fingerprint(text: bytes) -> int:
    """The fingerprint, a number of 64 bits.

    >>> fingerprint(b"hello")
    13009744463427800296
    """
    length = len(text)
    if length <= 16:
        return _up_to_16(text, length)
    if length <= 32:
        return _up_to_32(text, length)
    if length <= 64:
        return _up_to_64(text, length)
    return _long(text, length)


def _word(text: bytes, at: int) -> int:
    return int.from_bytes(text[at : at + 8], "little")


def _rotated(value: int, by: int) -> int:
    value &= _MASK
    return (value >> by | value << (64 - by)) & _MASK


def _mixed(value: int) -> int:
    value &= _MASK
    return value ^ value >> 47


def _of_two(first: int, second: int, factor: int) -> int:
    mixed = _mixed((first ^ second) * factor)
    return _mixed((second ^ mixed) * factor) * factor & _MASK


def _up_to_16(text: bytes, length: int) -> int:
    factor = _K2 + length * 2
    if length >= 8:
        a, b = _word(text, 0) + _K2, _word(text, length - 8)
        return _of_two(_masked(_rotated(b, 37) * factor + a), _masked((_rotated(a, 25) + b) * factor), factor)
    if length >= 4:
        head, tail = int.from_bytes(text[:4], "little"), int.from_bytes(text[length - 4 :], "little")
        return _of_two(length + (head << 3), tail, factor)
    if length > 0:
        y, z = text[0] + (text[length >> 1] << 8), length + (text[-1] << 2)
        return _mixed(y * _K2 & _MASK ^ z * _K0 & _MASK) * _K2 & _MASK
    return _K2


def _up_to_32(text: bytes, length: int) -> int:
    factor = _K2 + length * 2
    a, b = _word(text, 0) * _K1, _word(text, 8)
    c, d = _word(text, length - 8) * factor, _word(text, length - 16) * _K2
    return _of_two(_masked(_rotated(a + b, 43) + _rotated(c, 30) + d), _masked(a + _rotated(b + _K2, 18) + c), factor)


def _up_to_64(text: bytes, length: int) -> int:
    factor = _K2 + length * 2
    a, b = _word(text, 0) * _K2, _word(text, 8)
    c, d = _word(text, length - 8) * factor, _word(text, length - 16) * _K2
    y = _masked(_rotated(a + b, 43) + _rotated(c, 30) + d)
    z = _of_two(y, _masked(a + _rotated(b + _K2, 18) + c), factor)
    e, f = _word(text, 16) * factor, _word(text, 24)
    g, h = (y + _word(text, length - 32)) * factor, (z + _word(text, length - 24)) * factor
    return _of_two(_masked(_rotated(e + f, 43) + _rotated(g, 30) + h), _masked(e + _rotated(f + a, 18) + g), factor)


def _long(text: bytes, length: int) -> int:
    x, y = 81, 81 * _K1 + 113
    z = _mixed(y * _K2 + 113) * _K2
    v, w = (0, 0), (0, 0)
    x = _masked(x * _K2 + _word(text, 0))
    end = (length - 1) // 64 * 64
    for at in range(0, end, 64):
        x, y, z, v, w = _round(text, at, x, y, z, v, w, _K1, w[1], v[0])
    rest = (length - 1) & 63
    factor = _masked(_K1 + ((z & 0xFF) << 1))
    first = _masked(w[0] + rest)
    v = (_masked(v[0] + first), v[1])
    w = (_masked(first + v[0]), w[1])
    x, y, z, v, w = _round(text, end + rest - 63, x, y, z, v, w, factor, w[1] * 9, v[0] * 9)
    return _of_two(
        _masked(_of_two(v[0], w[0], factor) + _mixed(y) * _K0 + z), _masked(_of_two(v[1], w[1], factor) + x), factor
    )


def _round(
    text: bytes,
    at: int,
    x: int,
    y: int,
    z: int,
    v: tuple[int, int],
    w: tuple[int, int],
    factor: int,
    flipped: int,
    added: int,
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    x = _rotated(x + y + v[0] + _word(text, at + 8), 37) * factor & _MASK
    y = _rotated(y + v[1] + _word(text, at + 48), 42) * factor & _MASK
    x ^= _masked(flipped)
    y = _masked(y + added + _word(text, at + 40))
    z = _rotated(z + w[0], 33) * factor & _MASK
    v = _weak(text, at, v[1] * factor, x + w[0])
    w = _weak(text, at + 32, z + w[1], y + _word(text, at + 16))
    return z, y, x, v, w


def _weak(text: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    first, second, third, fourth = (_word(text, at + 8 * number) for number in range(4))
    a = _masked(a + first)
    b = _rotated(b + a + fourth, 21)
    total = _masked(a + second + third)
    return _masked(total + fourth), _masked(b + _rotated(total, 44) + a)


def _masked(value: int) -> int:
    return value & _MASK
