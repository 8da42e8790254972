"""`tf.float32` and the other dtypes, which NumPy and JAX accept as theirs."""

from __future__ import annotations

import functools
from typing import Any, Final

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

NOT_A_DTYPE = "{value!r} is not a dtype. Expected one of: {known}."


class _DTypeMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, np.dtype) or type.__instancecheck__(cls, instance) or type(instance) is DTypeName


class DType(metaclass=_DTypeMeta):
    """A dtype with TensorFlow's name and methods.

    NumPy and JAX use its attribute `dtype`, so it can be passed wherever they expect a dtype, and compared with theirs.
    The dtype of a tensor is NumPy's, that of a variable its name. Both have the attributes of this class, and are
    instances of it for `isinstance`.

    >>> import numpy as np
    >>> np.zeros(2, float32).dtype == float32, float32.as_numpy_dtype, float32
    (True, <class 'numpy.float32'>, tf.float32)
    """

    def __init__(self, name: str, dtype: Any) -> None:
        self.name = name
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @property
    def as_numpy_dtype(self) -> Any:
        """NumPy's type; `object` for text, as in TensorFlow."""
        return self.dtype.type if self.dtype != object else object

    @property
    def is_floating(self) -> bool:
        """Whether it is a real floating-point type."""
        return bool(jax.numpy.issubdtype(self.dtype, np.floating))

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer type."""
        return bool(jax.numpy.issubdtype(self.dtype, np.integer))

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex type."""
        return self.dtype.kind == "c"

    @property
    def is_bool(self) -> bool:
        """Whether it is `tf.bool`."""
        return self.dtype.kind == "b"

    @property
    def is_unsigned(self) -> bool:
        """Whether it is an unsigned integer type."""
        return self.dtype.kind == "u"

    @property
    def is_numeric(self) -> bool:
        """Whether it is a numeric type; False for text and bool."""
        return self.is_floating or self.is_integer or self.is_complex

    @property
    def is_numpy_compatible(self) -> bool:
        """Always True."""
        return True

    @property
    def base_dtype(self) -> DType:
        """The dtype itself: there are no reference types."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the real part."""
        return as_dtype(np.empty(0, self.dtype).real.dtype) if self.is_complex else self

    @property
    def size(self) -> int:
        """The number of bytes of one element."""
        return self.dtype.itemsize

    @property
    def max(self) -> Any:
        """The largest number."""
        return _limits(self).max

    @property
    def min(self) -> Any:
        """The smallest (most negative) number."""
        return _limits(self).min

    @property
    def limits(self) -> tuple[Any, Any]:
        """The smallest and the largest number."""
        return self.min, self.max

    def is_compatible_with(self, other: Any) -> bool:
        """Whether it is the same type."""
        return bool(self == other)

    def __eq__(self, other: object) -> bool:
        if type(other) is DType:
            return self.name == other.name
        try:
            return self.name == as_dtype(other).name
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


class DTypeName(str):
    """The dtype of a variable: its name, as in Keras, with the attributes of a :class:`DType`."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return str, (str(self),)


_ATTRIBUTES: Final = (
    *("as_numpy_dtype", "base_dtype", "is_bool", "is_compatible_with", "is_complex", "is_floating", "is_integer"),
    *("is_numeric", "is_numpy_compatible", "is_unsigned", "limits", "max", "min", "real_dtype", "size"),
)


def dtype_attributes() -> dict[str, property]:
    """What other dtypes have besides, by name."""
    return {name: property(functools.partial(_attribute, name)) for name in _ATTRIBUTES}


def _attribute(name: str, dtype: Any) -> Any:
    try:
        return getattr(as_dtype(dtype), name)
    except TypeError as error:  # structs, dates: `hasattr` is to say that they have none
        raise AttributeError(str(error)) from None


for _name, _property in (dtype_attributes() | {"name": property(str)}).items():
    setattr(DTypeName, _name, _property)

_names: dict[str, DTypeName] = {}


def name_dtype(name: Any) -> Any:
    """The name of a dtype as a :class:`DTypeName`; None and the like unchanged."""
    if type(name) is not str:
        return name
    found = _names.get(name)
    if found is None:
        found = _names[name] = DTypeName(name)
    return found


float16: Final = DType("float16", np.float16)
float32: Final = DType("float32", np.float32)
float64: Final = DType("float64", np.float64)
bfloat16: Final = DType("bfloat16", ml_dtypes.bfloat16)
float8_e4m3fn: Final = DType("float8_e4m3fn", ml_dtypes.float8_e4m3fn)
float8_e5m2: Final = DType("float8_e5m2", ml_dtypes.float8_e5m2)
int8: Final = DType("int8", np.int8)
int16: Final = DType("int16", np.int16)
int32: Final = DType("int32", np.int32)
int64: Final = DType("int64", np.int64)
uint8: Final = DType("uint8", np.uint8)
uint16: Final = DType("uint16", np.uint16)
uint32: Final = DType("uint32", np.uint32)
uint64: Final = DType("uint64", np.uint64)
complex64: Final = DType("complex64", np.complex64)
complex128: Final = DType("complex128", np.complex128)
bool_: Final = DType("bool", np.bool_)
string: Final = DType("string", object)
half: Final = float16
double: Final = float64

_BY_NAME: Final = {
    dtype.name: dtype
    for dtype in (
        *(float16, float32, float64, bfloat16, float8_e4m3fn, float8_e5m2),
        *(int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128, bool_, string),
    )
} | {"half": half, "float": float32, "double": double}


def as_dtype(type_value: Any) -> DType:
    """Converts a name, a dtype of NumPy or JAX, or a Python type to a :class:`DType`.

    >>> as_dtype("float32"), as_dtype(int), as_dtype(np.dtype("uint8"))
    (tf.float32, tf.int32, tf.uint8)
    """
    if type(type_value) is DType:
        return type_value
    if type_value is float or type_value is int:  # 32 bits, as in TensorFlow
        return float32 if type_value is float else int32
    if isinstance(type_value, str) and type_value in _BY_NAME:
        return _BY_NAME[type_value]
    try:
        found = np.dtype(type_value)
    except TypeError:
        raise TypeError(NOT_A_DTYPE.format(value=type_value, known=", ".join(_BY_NAME))) from None
    if found.kind in "OSUT":
        return string
    if found.name not in _BY_NAME:
        raise TypeError(NOT_A_DTYPE.format(value=type_value, known=", ".join(_BY_NAME)))
    return _BY_NAME[found.name]


def to_jax_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype to pass to JAX: 32 instead of 64 bits where JAX has no 64-bit types, without JAX's warning."""
    wanted = as_dtype(dtype)
    if wanted == string:
        raise TypeError("Devices cannot process text. Process it on the host: with tf.strings, or in tf.data maps.")
    return jax.dtypes.canonicalize_dtype(wanted.dtype)


def _limits(dtype: DType) -> Any:
    if dtype.is_floating:
        return ml_dtypes.finfo(dtype.dtype)  # type: ignore[no-untyped-call]
    if dtype.is_integer:
        return np.iinfo(dtype.dtype)
    raise TypeError(f"{dtype!r} has no minimum and maximum.")


def extreme_of_nothing(dtype: Any, is_minimum: bool) -> Any:
    """The maximum of no values, or their minimum: the smallest value of the dtype, or the largest."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return jnp.inf if is_minimum else -jnp.inf
    limits = np.iinfo(dtype)
    return limits.max if is_minimum else limits.min
