"""`tf.data.Dataset`: Unisono's datasets with TensorFlow's dtypes, tensors and signatures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from unisono import data
from unisono._src.data.plans import (
    LeafRows,
    ListSource,
    Nest,
    Plan,
    flatten,
    map_leaves,
    same_structure,
    unflatten,
)
from unisono.tf._dtypes import as_dtype, int64
from unisono.tf._operands import static_shape
from unisono.tf._spec import as_tf_spec
from unisono.tf.data._composite_batches import RaggedBatch, SparseBatch
from unisono.tf.data._conversions import (
    Cardinality,
    NumpyIterator,
    as_leaf,
    has_composites,
    is_data,
    prepare_function,
    to_arrays,
    to_host_tensors,
    to_state,
)
from unisono.tf.data._generators import has_all_shapes, infer_signature, split_signature
from unisono.tf.data._rejection_resample import resample


class _DatasetMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, data.Dataset) if cls is Dataset else type.__instancecheck__(cls, instance)


class Dataset(data.Dataset, metaclass=_DatasetMeta):
    """A dataset whose elements are tensors on the host, and whose functions may be written for TensorFlow.

    Every dataset of Unisono is an instance of it; `Dataset.of` converts one.

    >>> dataset = Dataset.from_tensor_slices([1.0, 2.0]).batch(2)
    >>> dataset.element_spec
    TensorSpec(shape=(None,), dtype=tf.float32, name=None)
    """

    @staticmethod
    def of(dataset: data.Dataset) -> Dataset:
        """Converts a dataset of Unisono."""
        return Dataset(dataset._plan)

    @staticmethod
    def from_tensor_slices(tensors: Nest, name: str | None = None) -> Dataset:
        """One element for each row. Python numbers have 32 bits.

        >>> [x.numpy() for x in Dataset.from_tensor_slices([1, 2])]
        [np.int32(1), np.int32(2)]
        """
        arrays = to_arrays(tensors, "from_tensor_slices")
        if has_composites(arrays):
            return Dataset(Plan(LeafRows(map_leaves(as_leaf, arrays, stop=is_data))))
        return Dataset.of(data.Dataset.from_tensor_slices(arrays))

    @staticmethod
    def from_tensors(tensors: Nest, name: str | None = None) -> Dataset:
        """One element: all of `tensors`."""
        arrays = to_arrays(tensors, "from_tensors")
        if has_composites(arrays):
            return Dataset(Plan(ListSource((map_leaves(as_leaf, arrays, stop=is_data),))))
        return Dataset.of(data.Dataset.from_tensors(arrays))

    @staticmethod
    def from_generator(
        generator: Callable[..., Iterable[Nest]],
        output_types: Nest = None,
        output_shapes: Nest = None,
        args: Sequence[Any] | None = None,
        output_signature: Nest = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements that a Python function yields; it is called again for each pass.

        Where the number of dims is not given, it is called once more: its first element determines it. `args` are NumPy
        arrays and scalars in the function.
        """
        function = generator if not args else lambda: generator(*(np.asarray(each)[()] for each in args))
        if output_signature is not None:
            output_types, output_shapes = split_signature(output_signature)
            if not has_all_shapes(output_types, output_shapes):
                output_signature = None
        if output_types is not None and output_signature is None and not has_all_shapes(output_types, output_shapes):
            output_signature = infer_signature(function, output_types, output_shapes)
        dataset = data.Dataset.from_generator(
            function, output_types, output_shapes, output_signature=output_signature, name=name
        )
        return Dataset.of(dataset)

    @staticmethod
    def from_ray(data_: Any) -> Dataset:
        """The rows of a Ray Dataset, as in `unisono.data`."""
        return Dataset.of(data.Dataset.from_ray(data_))

    @staticmethod
    def range(*args: Any, output_type: Any = np.int64, name: str | None = None, **_: Any) -> Dataset:
        """The numbers of Python's `range`."""
        return Dataset.of(data.Dataset.range(*args, output_type=as_dtype(output_type).dtype))

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = np.int64, name: str | None = None) -> Dataset:
        """An infinite sequence of numbers."""
        return Dataset.of(data.Dataset.counter(start, step, as_dtype(dtype).dtype))

    @staticmethod
    def random(
        seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """An infinite sequence of random 32-bit numbers."""
        return Dataset.of(data.Dataset.random(seed, rerandomize_each_iteration))

    @staticmethod
    def load(path: Any, element_spec: Nest = None, **options: Any) -> Dataset:
        """A dataset that `save` wrote."""
        return Dataset.of(data.Dataset.load(path, element_spec, **options))

    @staticmethod
    def zip(*args: Nest, datasets: Nest = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, as long as the shortest."""
        return Dataset.of(data.Dataset.zip(*args, datasets=datasets))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: str | None = None
    ) -> Dataset:
        """The paths that match a pattern; in random order unless `shuffle` is False."""
        return Dataset.of(data.Dataset.list_files(file_pattern, shuffle, seed))

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[data.Dataset],
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Each element from a dataset drawn at random, by weight."""
        dataset = data.Dataset.sample_from_datasets(
            datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration
        )
        return Dataset.of(dataset)

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[data.Dataset], choice_dataset: data.Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """The next element of dataset `i` for each number `i` in `choice_dataset`."""
        return Dataset.of(data.Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset))

    def scan(self, initial_state: Nest, scan_func: Callable[[Any, Any], Any], name: str | None = None) -> Dataset:
        """A map that carries a state: `scan_func(state, element)` returns `(new_state, result)`."""
        return Dataset.of(super().scan(to_state(initial_state), scan_func))

    def reduce(self, initial_state: Nest, reduce_func: Callable[[Any, Any], Any], name: str | None = None) -> Nest:
        """The last state of `reduce_func(state, element)` over all elements.

        >>> Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x).numpy()
        np.int64(10)
        """
        return to_host_tensors(super().reduce(to_state(initial_state), reduce_func))

    def as_numpy_iterator(self) -> NumpyIterator:
        """Iterates over the elements of a new pass as NumPy arrays.

        >>> list(Dataset.from_tensor_slices(["a", "b"]).as_numpy_iterator())
        [b'a', b'b']
        """
        return NumpyIterator(self)

    def make_one_shot_iterator(self) -> data.DatasetIterator:
        """The old name of `iter(dataset)`."""
        return iter(self)

    @property
    def element_spec(self) -> Nest:
        """The shape and dtype of each leaf of an element; None is a dimension that may vary."""
        return as_tf_spec(self._inferred_element_spec)

    def cardinality(self, name: str | None = None) -> Cardinality:
        """The number of elements in one pass, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        return Cardinality(super().cardinality())

    def ragged_batch(
        self, batch_size: int, drop_remainder: bool = False, row_splits_dtype: Any = "int64", name: str | None = None
    ) -> Dataset:
        """`batch_size` elements of different lengths as one ragged tensor.

        >>> [x.to_list() for x in Dataset.range(1, 4).map(np.arange).ragged_batch(2)]
        [[[0], [0, 1]], [[0, 1, 2]]]
        """
        return Dataset.of(self._then(RaggedBatch(batch_size, bool(drop_remainder))))

    def sparse_batch(self, batch_size: int, row_shape: Any, name: str | None = None) -> Dataset:
        """`batch_size` elements of different lengths as one sparse tensor, each a row of the shape `row_shape`."""
        return Dataset.of(self._then(SparseBatch(batch_size, row_shape=static_shape(row_shape))))

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Drops elements at random so that classes occur as in ``target_dist``; elements become `(class, element)`.

        Without ``initial_dist`` the distribution is estimated from the elements that have been read.
        """
        return Dataset.of(resample(self, class_func, target_dist, initial_dist, seed))

    def _adapt_state(self, state: Nest, given: Nest, following: Nest) -> Nest:
        """A `tf.constant(0, tf.int64)` has 32 bits on devices; together with elements of 64 bits it becomes that."""
        has_wide_elements = any(getattr(spec, "dtype", None) == int64 for spec in flatten(self.element_spec))
        if not has_wide_elements or not same_structure(state, following):
            return state
        return unflatten(state, map(_widen_leaf, flatten(state), flatten(given), flatten(following)))

    @classmethod
    def _from_plan(cls, plan: Plan) -> Dataset:
        return Dataset(plan)

    def _prepare_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return prepare_function(function)

    def _convert_spec(self, spec: Nest) -> Nest:
        return as_tf_spec(spec)


def _widen_leaf(leaf: Any, given: Any, following: Any) -> Any:
    is_narrow = isinstance(given, jax.Array) and given.dtype == np.int32
    return leaf.astype(np.int64) if is_narrow and getattr(following, "dtype", None) == np.int64 else leaf
