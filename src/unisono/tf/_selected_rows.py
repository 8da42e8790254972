"""The rows that a mask selects, inside a compiled program: `tf.boolean_mask` and `tf.where(condition)`.

How many they are is known only when the program runs, and sizes have to be known before. So all rows stay, beside the
mask. Functions that treat each row by itself apply to all of them, and reductions over the rows use the mask. Anything
else needs the rows themselves: the function runs on the host then, or an error says what to write.

Rows that are not selected hold a copy of one that is. Otherwise the gradient of, say, a logarithm could be infinite in
a row that does not count, and 0 · ∞ is NaN.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable
from typing import Any, Final, NoReturn

import jax
import jax.numpy as jnp

from unisono._src import jax_hooks, keras_hooks
from unisono.tf._dtypes import extreme_of_nothing, to_jax_dtype
from unisono.tf._operands import is_known, static_axes, static_shape
from unisono.tf._shape import TensorShape

DYNAMIC_SIZE = """{name} inside a compiled function: the size of the result depends on values, and sizes have to be
known before the function runs. Use tf.where(condition, x, y) with a neutral value for y, or call it outside.
The result can be used in functions of each element, as tf.abs, in reductions, as tf.reduce_sum, and in tf.size."""

# Those of two arguments broadcast, so their other argument must not have rows of its own.
_OF_EACH_ELEMENT: Final = frozenset(
    [
        "abs",
        "acos",
        "acosh",
        "add",
        "angle",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "ceil",
        "conj",
        "cos",
        "cosh",
        "digamma",
        "divide",
        "divide_no_nan",
        "equal",
        "erf",
        "erfc",
        "exp",
        "expm1",
        "floor",
        "floordiv",
        "floormod",
        "greater",
        "greater_equal",
        "is_finite",
        "is_inf",
        "is_nan",
        "less",
        "less_equal",
        "lgamma",
        "log",
        "log1p",
        "log_sigmoid",
        "logical_and",
        "logical_not",
        "logical_or",
        "logical_xor",
        "maximum",
        "minimum",
        "multiply",
        "multiply_no_nan",
        "negative",
        "not_equal",
        "pow",
        "real",
        "reciprocal",
        "reciprocal_no_nan",
        "rint",
        "round",
        "rsqrt",
        "sigmoid",
        "sign",
        "sin",
        "sinh",
        "softplus",
        "softsign",
        "sqrt",
        "square",
        "squared_difference",
        "subtract",
        "tan",
        "tanh",
        "truediv",
        "xdivy",
        "xlogy",
    ]
)
_NAMES_OF_EACH_ELEMENT: Final = frozenset(
    {f"math.{name}" for name in _OF_EACH_ELEMENT}
    | {f"nn.{name}" for name in ("elu", "gelu", "leaky_relu", "relu", "relu6", "selu", "silu")}
    | {"nn.sigmoid_cross_entropy_with_logits", "nn.weighted_cross_entropy_with_logits"}
    | {"cast", "clip_by_value", "identity", "stop_gradient", "zeros_like", "ones_like", "where", "saturate_cast"}
)
_REDUCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "math.reduce_sum": jnp.sum,
    "math.reduce_mean": jnp.mean,
    "math.reduce_prod": jnp.prod,
    "math.reduce_any": jnp.any,
    "math.reduce_all": jnp.all,
    "math.reduce_std": jnp.std,
    "math.reduce_variance": jnp.var,
    "math.reduce_logsumexp": jax.nn.logsumexp,
}
_EXTREMES: Final = {"math.reduce_max": (jnp.max, False), "math.reduce_min": (jnp.min, True)}


def refuse_dynamic_size(name: str) -> NoReturn:
    """Runs the function that is being compiled on the host; if that is impossible, raises an error."""
    keras_hooks.run_on_host_if_possible(f"the size of the result of {name} depends on values")
    raise ValueError(DYNAMIC_SIZE.format(name=name))


class SelectedRows:
    """Rows, and which of them are selected.

    Args:
        rows: all rows; those that are not selected hold a copy of one that is.
        mask: one bool for each row.
        source: what the mask was made from: equal for rows that can be used together.
        name: the function that selected them, for errors.
    """

    def __init__(self, rows: Any, mask: Any, source: Any, name: str) -> None:
        self.rows, self.mask, self.source, self.name = rows, mask, source, name

    @classmethod
    def select(cls, array: Any, mask: Any, name: str) -> SelectedRows:
        """The rows of ``array``, whose first dims are those of ``mask``, where the mask is true."""
        rows, flat = array.reshape((-1, *array.shape[mask.ndim :])), mask.reshape(-1)
        numbers = jnp.arange(flat.size)
        filled = rows[jnp.where(flat, numbers, jnp.argmax(flat))]
        return cls(jnp.where(jnp.any(flat), filled, jnp.ones_like(filled)), flat, (_Identity(mask),), name)

    @property
    def shape(self) -> TensorShape:
        """The shape; the number of rows is unknown."""
        return TensorShape([None, *self.rows.shape[1:]])

    @property
    def dtype(self) -> Any:
        """The dtype."""
        return self.rows.dtype

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return int(self.rows.ndim)

    @property
    def count(self) -> Any:
        """How many rows are selected."""
        return jnp.sum(self.mask, dtype=jnp.int32)

    def get_shape(self) -> TensorShape:
        """The shape; the number of rows is unknown."""
        return self.shape

    def with_rows(self, rows: Any) -> SelectedRows:
        """Other rows, selected in the same way."""
        return SelectedRows(rows, self.mask, self.source, self.name)

    def refuse(self) -> NoReturn:
        """To be called where the rows themselves are needed, without the others."""
        refuse_dynamic_size(self.name)

    def as_result(self) -> NoReturn:
        """A function that returns them runs on the host."""
        self.refuse()

    def __jax_array__(self) -> NoReturn:
        self.refuse()

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        self.refuse()

    def __len__(self) -> NoReturn:
        self.refuse()

    def __iter__(self) -> NoReturn:
        self.refuse()

    def __bool__(self) -> NoReturn:
        self.refuse()

    def __getitem__(self, key: Any) -> SelectedRows:
        first = key[0] if isinstance(key, tuple) and key else key
        keeps_rows = (isinstance(first, slice) and first == slice(None)) or (first is Ellipsis and self.ndim > 1)
        if not isinstance(key, tuple) or not keeps_rows or (first is Ellipsis and len(key) > self.ndim):
            self.refuse()
        return self.with_rows(self.rows[key])

    def __hash__(self) -> int:
        return id(self)

    def __neg__(self) -> SelectedRows:
        return self.with_rows(-self.rows)

    def __abs__(self) -> SelectedRows:
        return self.with_rows(abs(self.rows))

    def __invert__(self) -> SelectedRows:
        return self.with_rows(~self.rows)

    def __matmul__(self, other: Any) -> SelectedRows:
        if self.ndim != 2 or len(_shape_of(other)) != 2:
            self.refuse()
        return self.with_rows(self.rows @ jnp.asarray(_value_of(other)))

    def __rmatmul__(self, other: Any) -> NoReturn:
        self.refuse()


def apply_to_selected(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of the namespace, by its public name, for arguments among which are selected rows."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()  # an axis may be positional, and a function's default is its own
    given = bound.arguments
    selected = [each for each in given.values() if isinstance(each, SelectedRows)]
    if not selected:  # inside a list, as in tf.concat
        _find_in((args, kwargs)).refuse()
    if any(each.source != selected[0].source for each in selected):
        selected[0].refuse()
    first = next(iter(given.values()))
    if first is selected[0] and len(selected) == 1:
        if name in ("size", "shape", "rank"):
            return _measure(name, first, given.get("out_type", "int32"))
        if name in _REDUCTIONS or name in _EXTREMES:
            return _reduce(name, function, first, given["axis"], given["keepdims"])
        if name == "reshape":
            return _reshape(first, given["shape"])
    if not _keeps_rows(name, given, selected):
        selected[0].refuse()
    return selected[0].with_rows(
        function(*map(_rows_of, args), **{key: _rows_of(each) for key, each in kwargs.items()})
    )


def _keeps_rows(name: str, given: dict[str, Any], selected: list[SelectedRows]) -> bool:
    """Whether each row of the result is computed from the same row of the selected arguments alone."""
    if name in _NAMES_OF_EACH_ELEMENT:
        return not (name == "where" and given["x"] is None) and _broadcast_along_rows(list(given.values()))
    if name == "nn.softmax_cross_entropy_with_logits":
        pair = [given["labels"], given["logits"]]
        return _broadcast_along_rows(pair) and _leaves_rows(given["axis"], selected[0].ndim)
    if name == "nn.sparse_softmax_cross_entropy_with_logits":
        return len(selected) == 2 and given["logits"].ndim == given["labels"].ndim + 1
    if len(selected) > 1:
        return False
    (rows,) = selected
    if name in ("gather", "gather_nd"):
        along_first = given.get("axis") is None and _is_number(given["batch_dims"], 0)
        return rows is given["indices"] and along_first
    if rows is not next(iter(given.values())):
        return False
    if name in ("nn.softmax", "nn.log_softmax"):
        return _leaves_rows(-1 if given["axis"] is None else given["axis"], rows.ndim)
    if name == "linalg.l2_normalize":
        return _leaves_rows(given["axis"] if given["dim"] is None else given["dim"], rows.ndim)
    if name in ("math.argmax", "math.argmin"):
        return _leaves_rows(0 if given["axis"] is None else given["axis"], rows.ndim)
    if name == "one_hot":
        return _leaves_rows(-1 if given["axis"] is None else given["axis"], rows.ndim + 1)
    if name == "expand_dims":
        return _leaves_rows(given["axis"], rows.ndim + 1)
    if name == "linalg.matmul":
        transposes = given["transpose_a"] or given["adjoint_a"]
        return rows.ndim == 2 and len(_shape_of(given["b"])) == 2 and not transposes
    return name == "nn.bias_add" and rows.ndim > 1


def _reduce(name: str, function: Callable[..., Any], selected: SelectedRows, axis: Any, keepdims: Any) -> Any:
    rows = selected.rows
    axes = tuple(range(rows.ndim)) if axis is None else _as_tuple(axis)
    if _leaves_rows(axes, rows.ndim) or any(not -rows.ndim <= each < rows.ndim for each in axes):  # the latter raises
        return selected.with_rows(function(rows, axis, keepdims))
    if name == "math.reduce_mean" and jnp.issubdtype(rows.dtype, jnp.integer):
        selected.refuse()  # an integer, as in TensorFlow
    mask = selected.mask.reshape((-1, *[1] * (rows.ndim - 1)))
    if name in _EXTREMES:
        reduce, is_minimum = _EXTREMES[name]
        return reduce(rows, axes, keepdims=keepdims, where=mask, initial=extreme_of_nothing(rows.dtype, is_minimum))
    options = {"dtype": rows.dtype} if name in ("math.reduce_sum", "math.reduce_prod") else {}
    return _REDUCTIONS[name](rows, axes, keepdims=keepdims, where=mask, **options)


def _measure(name: str, selected: SelectedRows, dtype: Any) -> Any:
    if name == "rank":
        return jnp.int32(selected.ndim)
    if name == "size":
        found = selected.count * math.prod(selected.rows.shape[1:])
    else:
        found = jnp.stack([selected.count, *(jnp.int32(size) for size in selected.rows.shape[1:])])
    return found.astype(to_jax_dtype(dtype))


def _reshape(selected: SelectedRows, shape: Any) -> SelectedRows:
    """The rows with another shape each, or all their elements in one vector."""
    sizes = static_shape(shape) if is_known(shape) else ()
    inner = math.prod(selected.rows.shape[1:])
    if not sizes or sizes[0] != -1:
        selected.refuse()
    if len(sizes) == 1:
        rows, mask = selected.rows.reshape(-1), jnp.repeat(selected.mask, inner)
        source = selected.source if selected.ndim == 1 else (*selected.source, inner)
        return SelectedRows(rows, mask, source, selected.name)
    if min(sizes[1:]) < 0 or math.prod(sizes[1:]) != inner:
        selected.refuse()
    return selected.with_rows(selected.rows.reshape((-1, *sizes[1:])))


def _broadcast_along_rows(values: list[Any]) -> bool:
    """Whether the first dim of the result of broadcasting is that of the selected rows: they have equally many dims,
    and other values have no rows of their own."""
    (ndim, *others) = {each.ndim for each in values if isinstance(each, SelectedRows)}
    shapes = [_shape_of(each) for each in values if not isinstance(each, SelectedRows)]
    return not others and all(len(shape) < ndim or (len(shape) == ndim and shape[0] == 1) for shape in shapes)


def _leaves_rows(axis: Any, ndim: int) -> bool:
    """Whether the first of ``ndim`` dims is not among these."""
    return axis is not None and ndim > 1 and all(each % ndim for each in _as_tuple(axis))


def _as_tuple(axis: Any) -> tuple[int, ...]:
    found = static_axes(axis)
    return found if isinstance(found, tuple) else () if found is None else (found,)


def _is_number(value: Any, number: int) -> bool:
    return is_known(value) and _as_tuple(value) == (number,)


def _shape_of(value: Any) -> tuple[Any, ...]:
    if isinstance(value, list | tuple):
        return (len(value), *(_shape_of(value[0]) if value else ()))
    shape = getattr(value, "shape", ())
    return tuple(shape) if isinstance(shape, tuple | TensorShape) else ()  # a NumPy scalar type has a descriptor


def _value_of(value: Any) -> Any:
    return value.value if hasattr(value, "value") and hasattr(value, "assign") else value


def _rows_of(value: Any) -> Any:
    return value.rows if isinstance(value, SelectedRows) else value


def _find_in(nest: Any) -> SelectedRows:
    leaves = jax.tree.leaves(nest, is_leaf=lambda leaf: isinstance(leaf, SelectedRows))
    return next(leaf for leaf in leaves if isinstance(leaf, SelectedRows))


class _Identity:
    """Equal to the identity of the same array, or of one that was computed in the same way."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and jax_hooks.compute_same(self._value, other._value)

    __hash__ = None  # type: ignore[assignment]


_OPERATORS: Final = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne, "and": operator.and_,
    "or": operator.or_,
}  # fmt: skip


def _make_operator(operate: Callable[[Any, Any], Any], is_reflected: bool) -> Callable[[Any, Any], Any]:
    def apply(self: SelectedRows, other: Any) -> SelectedRows:
        other = _value_of(other)
        same = not isinstance(other, SelectedRows) or other.source == self.source
        if not same or not _broadcast_along_rows([self, other]):
            self.refuse()
        pair = (self.rows, _rows_of(other))
        return self.with_rows(operate(*(pair[::-1] if is_reflected else pair)))

    return apply


for _name, _operate in _OPERATORS.items():
    setattr(SelectedRows, f"__{_name}__", _make_operator(_operate, is_reflected=False))
    setattr(SelectedRows, f"__r{_name}__", _make_operator(_operate, is_reflected=True))
SelectedRows.__array_priority__ = 200  # type: ignore[attr-defined]  # NumPy leaves operators to it
