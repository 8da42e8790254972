"""Functions that move the values of sparse tensors: order, shape, slices, concatenation, empty rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.tf._op import op
from unisono.tf._operands import as_bytes_array, static_int, static_shape, static_value
from unisono.tf._tensors import is_text, to_host_tensor
from unisono.tf.ragged._base import concat_dense
from unisono.tf.sparse._sparse_tensor import SparseTensor, as_sparse, known_indices, take


def in_order(indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The order of the values by rows, then columns."""
    return np.lexsort(indices.T[::-1]) if indices.shape[1] else np.arange(len(indices))


def select(tensor: SparseTensor, positions: Any, indices: Any = None, sizes: Any = None) -> SparseTensor:
    """Some of the values; at other indices and in another shape if these are given."""
    chosen = np.asarray(tensor.indices)[positions] if indices is None else indices
    return SparseTensor(chosen, take(tensor.values, positions), tensor.dense_sizes if sizes is None else sizes)


@op
def reorder(sp_input: Any) -> Any:
    """The values ordered by their indices."""
    tensor = as_sparse(sp_input, "reorder")
    return select(tensor, in_order(known_indices(tensor, "tf.sparse.reorder")))


@op
def reset_shape(sp_input: Any, new_shape: Any = None) -> Any:
    """The same values in a larger shape; in the smallest one if ``new_shape`` is None."""
    tensor = as_sparse(sp_input, "reset_shape")
    indices = known_indices(tensor, "tf.sparse.reset_shape")
    least = (indices.max(axis=0, initial=-1) + 1).tolist()
    sizes = tuple(least) if new_shape is None else static_shape(new_shape)
    old = tensor.dense_sizes
    if len(sizes) != tensor.rank or (new_shape is not None and any(a < b for a, b in zip(sizes, old, strict=False))):
        raise ValueError(f"tf.sparse.reset_shape: {sizes} does not hold a tensor of shape {old}.")
    return SparseTensor(indices, tensor.values, sizes)


@op
def slice(sp_input: Any, start: Any, size: Any) -> Any:
    """``size`` elements along each dim, beginning at ``start``.

    >>> slice(SparseTensor([[0, 1], [1, 2]], [1, 2], [2, 4]), [0, 1], [2, 2]).indices.tolist()
    [[0, 0], [1, 1]]
    """
    tensor = as_sparse(sp_input, "slice")
    indices = known_indices(tensor, "tf.sparse.slice")
    first, lengths = np.array(static_shape(start)), np.array(static_shape(size))
    lengths = np.maximum(np.minimum(lengths, np.array(tensor.dense_sizes) - first), 0)
    kept = np.flatnonzero(((indices >= first) & (indices < first + lengths)).all(axis=1))
    return select(tensor, kept, indices[kept] - first, lengths.tolist())


@op
def concat(axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False) -> Any:
    """Sparse tensors one after the other along a dim."""
    tensors = [as_sparse(each, "concat") for each in sp_inputs]
    dim = static_int(axis) % tensors[0].rank
    shapes = np.array([each.dense_sizes for each in tensors])
    others = np.delete(shapes, dim, axis=1)
    if not expand_nonconcat_dims and (others != others[0]).any():
        raise ValueError(f"tf.sparse.concat: the shapes {shapes.tolist()} differ not only along axis {dim}.")
    sizes = shapes.max(axis=0)
    sizes[dim] = shapes[:, dim].sum()
    parts, offset = [], 0
    for each in tensors:
        moved = known_indices(each, "tf.sparse.concat").copy()
        moved[:, dim] += offset
        offset += each.dense_sizes[dim]
        parts.append(moved)
    joined = SparseTensor(np.concatenate(parts), concat_dense([each.values for each in tensors]), sizes.tolist())
    return select(joined, in_order(np.asarray(joined.indices)))


@op
def split(sp_input: Any = None, num_split: Any = None, axis: Any = None) -> Any:
    """Parts of nearly equal size along a dim, as a list; the first ones are larger by one."""
    tensor = as_sparse(sp_input, "split")
    dim, number = static_int(axis), static_int(num_split)
    small, larger = divmod(tensor.dense_sizes[dim % tensor.rank], number)
    parts, first = [], 0
    for part in range(number):
        length = small + (part < larger)
        start, size = [0] * tensor.rank, list(tensor.dense_sizes)
        start[dim], size[dim] = first, length
        parts.append(slice(tensor, start, size))
        first += length
    return parts


@op
def transpose(sp_input: Any, perm: Any = None) -> Any:
    """Permutes the dims; reverses them if ``perm`` is None."""
    tensor = as_sparse(sp_input, "transpose")
    order = list(range(tensor.rank))[::-1] if perm is None else list(static_shape(perm))
    indices = known_indices(tensor, "tf.sparse.transpose")[:, order]
    by_row = in_order(indices)
    return select(tensor, by_row, indices[by_row], [tensor.dense_sizes[dim] for dim in order])


@op
def reshape(sp_input: Any, shape: Any) -> Any:
    """The same values in another shape; one size may be -1, which is inferred."""
    tensor = as_sparse(sp_input, "reshape")
    total, sizes = int(np.prod(tensor.dense_sizes)), list(static_shape(shape))
    if -1 in sizes:
        sizes[sizes.index(-1)] = total // max(int(np.prod([size for size in sizes if size != -1])), 1)
    if int(np.prod(sizes)) != total:
        raise ValueError(f"tf.sparse.reshape: {tensor.dense_sizes} has {total} elements, and {sizes} has not.")
    indices = known_indices(tensor, "tf.sparse.reshape")
    flat = np.ravel_multi_index(tuple(indices.T), tensor.dense_sizes) if len(indices) else np.zeros(0, np.int64)
    moved = np.stack(np.unravel_index(flat, sizes), axis=1) if len(indices) else np.zeros((0, len(sizes)), np.int64)
    return SparseTensor(moved, tensor.values, sizes)


@op
def expand_dims(sp_input: Any, axis: Any = None) -> Any:
    """Inserts a dim of size 1; by default the last."""
    tensor = as_sparse(sp_input, "expand_dims")
    dim = -1 if axis is None else static_int(axis)
    dim += tensor.rank + 1 if dim < 0 else 0
    sizes = list(tensor.dense_sizes)
    sizes.insert(dim, 1)
    return SparseTensor(np.insert(known_indices(tensor, "tf.sparse.expand_dims"), dim, 0, axis=1), tensor.values, sizes)


@op
def retain(sp_input: Any, to_retain: Any) -> Any:
    """The values for which a bool is true."""
    tensor = as_sparse(sp_input, "retain")
    known_indices(tensor, "tf.sparse.retain")
    return select(tensor, np.flatnonzero(static_value(to_retain, "tf.sparse.retain: to_retain")))


@op
def fill_empty_rows(sp_input: Any, default_value: Any) -> Any:
    """A value in the first column of each empty row, and a bool for each row: whether it was empty."""
    tensor = as_sparse(sp_input, "fill_empty_rows")
    indices = known_indices(tensor, "tf.sparse.fill_empty_rows")
    empty = np.ones(tensor.dense_sizes[0], bool)
    empty[indices[:, 0]] = False
    rows = np.flatnonzero(empty)
    added = np.zeros((len(rows), tensor.rank), np.int64)
    added[:, 0] = rows
    fill = as_bytes_array(default_value).item() if is_text(default_value) else np.asarray(default_value).item()
    values = np.empty(len(rows), np.asarray(tensor.values).dtype)
    values[:] = fill
    filled = to_host_tensor(values) if isinstance(tensor.values, np.ndarray) else values
    joined = SparseTensor(np.concatenate([indices, added]), concat_dense([tensor.values, filled]), tensor.dense_sizes)
    return select(joined, in_order(np.asarray(joined.indices))), to_host_tensor(empty)


@op
def mask(a: Any, mask_indices: Any) -> Any:
    """The rows of `tf.IndexedSlices` whose indices are not among these."""
    indices = static_value(a.indices, "tf.sparse.mask: the indices")
    kept = ~np.isin(indices, static_value(mask_indices, "tf.sparse.mask: mask_indices"))
    positions = np.flatnonzero(kept)
    return type(a)(a.values[positions], indices[positions], a.dense_shape)
