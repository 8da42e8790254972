"""`tf.TensorArray`: rows that are written one by one and stacked."""

from __future__ import annotations

from typing import Any, NoReturn

import jax
import jax.numpy as jnp

from unisono.tf._dtypes import as_dtype, to_jax_dtype
from unisono.tf._operands import static_int, static_shape
from unisono.tf._shape import TensorShape
from unisono.tf._tensors import as_array

NOT_WRITTEN = "tf.TensorArray: row {index} was read, and nothing has been written there."

NO_ROOM = """tf.TensorArray: a row was written at a place that is only known when the compiled function runs, and the
array has {size} rows. Give the number of rows: tf.TensorArray(dtype, size=n)."""

BEYOND = "tf.TensorArray: row {index} of {size}. Make it larger, or with dynamic_size=True."


@jax.tree_util.register_pytree_node_class
class TensorArray:
    """Rows of one shape. Writing gives a new one: `array = array.write(i, row)`.

    It can be a loop variable of compiled functions, if the number of rows is known.

    >>> rows = TensorArray("float32", size=2).write(0, [1.0, 2.0]).write(1, [3.0, 4.0])
    >>> rows.stack().tolist()
    [[1.0, 2.0], [3.0, 4.0]]

    Args:
        dtype: the dtype of the rows.
        size: how many there are.
        dynamic_size: whether it grows.
        clear_after_read: accepted, without effect: rows can be read again.
        element_shape: the shape of a row, if it is known before.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self.dtype = as_dtype(dtype)
        self.dynamic_size = bool(dynamic_size)
        self._rows: tuple[Any, ...] = (None,) * (
            0 if size is None else static_int(size, "The size of a tf.TensorArray")
        )
        self._stacked: Any = None
        self._shape = None if element_shape is None else TensorShape(element_shape)

    @property
    def element_shape(self) -> TensorShape:
        """The shape of a row, as far as it is known."""
        if self.has_shape:
            return TensorShape(self.element_shape_and_dtype()[0])
        return TensorShape(None) if self._shape is None else self._shape

    @property
    def has_shape(self) -> bool:
        """Whether there is a row already."""
        return self._stacked is not None or any(row is not None for row in self._rows)

    def size(self, name: Any = None) -> Any:
        """How many rows there are."""
        return as_array(self._count)

    def write(self, index: Any, value: Any, name: Any = None) -> TensorArray:
        """With another row at ``index``."""
        row = as_array(value, self.dtype)
        if isinstance(index, jax.core.Tracer):
            return self._with(stacked=self.allocated(row.shape, row.dtype)._stacked.at[as_array(index)].set(row))
        place = static_int(index)
        if self._stacked is not None and place < self._count:
            return self._with(stacked=self._stacked.at[place].set(row))
        rows = list(self._rows if self._stacked is None else self._stacked)
        if place >= len(rows):
            if not self.dynamic_size:
                raise ValueError(BEYOND.format(index=place, size=len(rows)))
            rows += [None] * (place + 1 - len(rows))
        rows[place] = row
        return self._with(rows=tuple(rows))

    def read(self, index: Any, name: Any = None) -> Any:
        """The row at ``index``."""
        if isinstance(index, jax.core.Tracer):
            return self.stack()[as_array(index)]
        place = static_int(index)
        if place >= self._count:
            raise ValueError(BEYOND.format(index=place, size=self._count))
        row = self._rows[place] if self._stacked is None else self._stacked[place]
        if row is None:
            raise ValueError(NOT_WRITTEN.format(index=place))
        return row

    def stack(self, name: Any = None) -> Any:
        """All rows, along a new first dim. Those that were not written are zeros."""
        if self._stacked is not None:
            return self._stacked
        if not self.has_shape:
            shape = () if self._shape is None else static_shape(list(self._shape))
            return jnp.zeros((self._count, *shape), to_jax_dtype(self.dtype))
        shape, dtype = self.element_shape_and_dtype()
        return jnp.stack([jnp.zeros(shape, dtype) if row is None else row for row in self._rows])

    def unstack(self, value: Any, name: Any = None) -> TensorArray:
        """With the rows of ``value``."""
        return self._with(stacked=as_array(value, self.dtype))

    def gather(self, indices: Any, name: Any = None) -> Any:
        """The rows at these places, stacked."""
        return self.stack()[as_array(indices)]

    def scatter(self, indices: Any, value: Any, name: Any = None) -> TensorArray:
        """With the rows of ``value`` at these places."""
        array = self
        for index, row in zip(as_array(indices), as_array(value, self.dtype), strict=True):
            array = array.write(index, row)
        return array

    def concat(self, name: Any = None) -> Any:
        """All rows, one after the other along their first dim."""
        rows = self._rows if self._stacked is None else self._stacked
        return jnp.concatenate([row for row in rows if row is not None])

    def split(self, value: Any, lengths: Any, name: Any = None) -> TensorArray:
        """With parts of ``value`` of these lengths as rows."""
        array, first = self, 0
        for place, length in enumerate(static_shape(lengths)):
            array = array.write(place, as_array(value)[first : first + length])
            first += length
        return array

    def identity(self) -> TensorArray:
        """The same rows."""
        return self

    def grad(self, source: Any, flow: Any = None, name: Any = None) -> NoReturn:
        """Not supported. Tapes find gradients."""
        raise NotImplementedError("tf.TensorArray.grad is not available. Gradients come from tf.GradientTape.")

    def element_shape_and_dtype(self) -> tuple[tuple[int, ...], Any]:
        """The shape and the dtype of the rows that there are."""
        row = self._stacked[0] if self._stacked is not None else next(row for row in self._rows if row is not None)
        return tuple(row.shape), row.dtype

    def begin_like(self, other: TensorArray) -> TensorArray:
        """The same, in the form that ``other`` has after a turn of a compiled loop."""
        return self if other._stacked is None else self.allocated(other._stacked.shape[1:], other._stacked.dtype)

    def allocated(self, shape: Any, dtype: Any) -> TensorArray:
        """The same with room for rows of this shape: as a loop of a compiled function needs it."""
        if self._stacked is not None:
            return self
        if not self._rows:
            raise ValueError(NO_ROOM.format(size=0))
        rows = [jnp.zeros(tuple(shape), dtype) if row is None else row for row in self._rows]
        return self._with(stacked=jnp.stack(rows))

    @property
    def _count(self) -> int:
        return len(self._rows) if self._stacked is None else int(self._stacked.shape[0])

    def _with(self, rows: tuple[Any, ...] = (), stacked: Any = None) -> TensorArray:
        other = TensorArray(self.dtype, dynamic_size=self.dynamic_size, element_shape=self._shape)
        other._rows, other._stacked = rows, stacked
        return other

    def tree_flatten(self) -> Any:
        """Its arrays, and the rest: for JAX."""
        return (self._rows, self._stacked), (self.dtype.name, self.dynamic_size, self._shape)

    @classmethod
    def tree_unflatten(cls, rest: Any, arrays: Any) -> TensorArray:
        """What :meth:`tree_flatten` took apart."""
        dtype, dynamic_size, shape = rest
        made = cls(dtype, dynamic_size=dynamic_size, element_shape=shape)
        made._rows, made._stacked = arrays
        return made
