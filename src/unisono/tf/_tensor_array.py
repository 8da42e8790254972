"""`tf.TensorArray`: rows that are written one at a time and stacked."""

from __future__ import annotations

from typing import Any, NoReturn

import jax
import jax.numpy as jnp

from unisono._src import keras_hooks
from unisono.tf._dtypes import as_dtype, to_jax_dtype
from unisono.tf._operands import static_int, static_shape
from unisono.tf._shape import TensorShape
from unisono.tf._tensors import as_array

NOT_WRITTEN = "tf.TensorArray: row {index} was read before it was written."

UNKNOWN_SIZE = """tf.TensorArray: a row was written at an index known only at run time, and the array has {size} rows.
Here it cannot grow. Give the number of rows: tf.TensorArray(dtype, size=n), without dynamic_size=True."""

OUT_OF_RANGE = "tf.TensorArray: row {index} of {size}. Create it with a larger size, or with dynamic_size=True."


@jax.tree_util.register_pytree_node_class
class TensorArray:
    """Rows of one shape. Writing returns a new array: `array = array.write(i, row)`.

    It can be a loop variable in compiled functions if the number of rows is known.

    >>> rows = TensorArray("float32", size=2).write(0, [1.0, 2.0]).write(1, [3.0, 4.0])
    >>> rows.stack().tolist()
    [[1.0, 2.0], [3.0, 4.0]]

    Args:
        dtype: the dtype of the rows.
        size: the number of rows.
        dynamic_size: whether writing past the end adds rows.
        clear_after_read: accepted, without effect: rows can be read again.
        element_shape: the shape of a row, if known.
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
        num_rows = 0 if size is None else static_int(size, "The size of a tf.TensorArray")
        self._rows: tuple[Any, ...] = (None,) * num_rows
        self._stacked: Any = None
        self._shape = None if element_shape is None else TensorShape(element_shape)

    @property
    def element_shape(self) -> TensorShape:
        """The shape of a row, as far as known."""
        if self.has_shape:
            return TensorShape(self.element_shape_and_dtype()[0])
        return TensorShape(None) if self._shape is None else self._shape

    @property
    def has_shape(self) -> bool:
        """Whether a row has been written."""
        return self._stacked is not None or any(row is not None for row in self._rows)

    def size(self, name: Any = None) -> Any:
        """The number of rows."""
        return as_array(self._count)

    def write(self, index: Any, value: Any, name: Any = None) -> TensorArray:
        """Returns an array with this row at ``index``."""
        row = as_array(value, self.dtype)
        if isinstance(index, jax.core.Tracer):
            if self.dynamic_size:
                self._refuse_unknown_size()
            return self._replace(stacked=self.allocate(row.shape, row.dtype)._stacked.at[as_array(index)].set(row))
        position = static_int(index)
        if self._stacked is not None and position < self._count:
            return self._replace(stacked=self._stacked.at[position].set(row))
        rows = list(self._rows if self._stacked is None else self._stacked)
        if position >= len(rows):
            if not self.dynamic_size:
                raise ValueError(OUT_OF_RANGE.format(index=position, size=len(rows)))
            rows += [None] * (position + 1 - len(rows))
        rows[position] = row
        return self._replace(rows=tuple(rows))

    def read(self, index: Any, name: Any = None) -> Any:
        """The row at ``index``."""
        if isinstance(index, jax.core.Tracer):
            return self.stack()[as_array(index)]
        position = static_int(index)
        if position >= self._count:
            raise ValueError(OUT_OF_RANGE.format(index=position, size=self._count))
        row = self._rows[position] if self._stacked is None else self._stacked[position]
        if row is None:
            raise ValueError(NOT_WRITTEN.format(index=position))
        return row

    def stack(self, name: Any = None) -> Any:
        """Stacks all rows along a new first dim. Rows that were not written are zeros."""
        if self._stacked is not None:
            return self._stacked
        if not self.has_shape:
            shape = () if self._shape is None else static_shape(list(self._shape))
            return jnp.zeros((self._count, *shape), to_jax_dtype(self.dtype))
        shape, dtype = self.element_shape_and_dtype()
        return jnp.stack([jnp.zeros(shape, dtype) if row is None else row for row in self._rows])

    def unstack(self, value: Any, name: Any = None) -> TensorArray:
        """Returns an array with the rows of ``value``."""
        return self._replace(stacked=as_array(value, self.dtype))

    def gather(self, indices: Any, name: Any = None) -> Any:
        """The rows at these indices, stacked."""
        return self.stack()[as_array(indices)]

    def scatter(self, indices: Any, value: Any, name: Any = None) -> TensorArray:
        """Returns an array with the rows of ``value`` at these indices."""
        array = self
        for index, row in zip(as_array(indices), as_array(value, self.dtype), strict=True):
            array = array.write(index, row)
        return array

    def concat(self, name: Any = None) -> Any:
        """Concatenates all rows along their first dim."""
        rows = self._rows if self._stacked is None else self._stacked
        return jnp.concatenate([row for row in rows if row is not None])

    def split(self, value: Any, lengths: Any, name: Any = None) -> TensorArray:
        """Returns an array whose rows are parts of ``value`` of these lengths."""
        array, first = self, 0
        for position, length in enumerate(static_shape(lengths)):
            array = array.write(position, as_array(value)[first : first + length])
            first += length
        return array

    def identity(self) -> TensorArray:
        """Returns the array."""
        return self

    def grad(self, source: Any, flow: Any = None, name: Any = None) -> NoReturn:
        """Not supported. Gradients come from tf.GradientTape."""
        raise NotImplementedError("tf.TensorArray.grad is not available. Use tf.GradientTape.")

    def element_shape_and_dtype(self) -> tuple[tuple[int, ...], Any]:
        """The shape and dtype of the rows that have been written."""
        row = self._stacked[0] if self._stacked is not None else next(row for row in self._rows if row is not None)
        return tuple(row.shape), row.dtype

    def begin_like(self, other: TensorArray) -> TensorArray:
        """Converts to the form that ``other`` has after an iteration of a compiled loop."""
        return self if other._stacked is None else self.allocate(other._stacked.shape[1:], other._stacked.dtype)

    def allocate(self, shape: Any, dtype: Any) -> TensorArray:
        """Allocates all rows with this shape, as a compiled loop needs it."""
        if self._stacked is not None:
            return self
        if not self._rows:
            self._refuse_unknown_size()
        rows = [jnp.zeros(tuple(shape), dtype) if row is None else row for row in self._rows]
        return self._replace(stacked=jnp.stack(rows))

    def _refuse_unknown_size(self) -> NoReturn:
        keras_hooks.run_on_host_if_possible("the number of rows of a tf.TensorArray is known only at run time")
        raise ValueError(UNKNOWN_SIZE.format(size=self._count))

    @property
    def _count(self) -> int:
        return len(self._rows) if self._stacked is None else int(self._stacked.shape[0])

    def _replace(self, rows: tuple[Any, ...] = (), stacked: Any = None) -> TensorArray:
        other = TensorArray(self.dtype, dynamic_size=self.dynamic_size, element_shape=self._shape)
        other._rows, other._stacked = rows, stacked
        return other

    def tree_flatten(self) -> Any:
        """The arrays and the static data, for JAX."""
        return (self._rows, self._stacked), (self.dtype.name, self.dynamic_size, self._shape)

    @classmethod
    def tree_unflatten(cls, static: Any, arrays: Any) -> TensorArray:
        """The inverse of :meth:`tree_flatten`."""
        dtype, dynamic_size, shape = static
        array = cls(dtype, dynamic_size=dynamic_size, element_shape=shape)
        array._rows, array._stacked = arrays
        return array
