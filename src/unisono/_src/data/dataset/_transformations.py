"""tf.data's methods that make a dataset of a dataset. Each adds one operation to the plan."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from unisono._src.data import plans
from unisono._src.data.dataset._dataset_base import DatasetBase
from unisono._src.data.dataset._host_call import HostCall
from unisono._src.data.plans import Nest, Options, TensorSpec, flatten, map_leaves

if TYPE_CHECKING:
    from unisono._src.data.dataset._dataset import Dataset

_CYCLE_LENGTH: Final = 16


class Transformations(DatasetBase):
    """The methods of `Dataset` that return a new dataset. None of them computes an element."""

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
        **_: Any,
    ) -> Dataset:
        """`map_func` of each element. A tuple is spread over the arguments, anything else is one argument.

        Where JAX can trace the function it is compiled into the training step. As in tf.data, what it then
        does besides computing (printing, say) happens once, not once per element. Where it cannot, it runs on the
        host: by one thread, or by as many as `num_parallel_calls` says (AUTOTUNE: one for each core). `explain()`
        says which, and why.

        Random numbers of `keras.random`, of Keras's random layers and of `unisono.data.random` differ for each
        element and epoch, and are the same in every run with the same seeds.

        >>> from unisono.data import Dataset
        >>> dataset = Dataset.from_tensor_slices(([1, 2], [3, 4])).map(lambda x, y: x * y)
        >>> [int(x) for x in dataset]
        [3, 8]
        """
        return self._then(plans.Map(HostCall(self._prepare_function(map_func), "map"), num_parallel_calls))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which `predicate` is true.

        >>> from unisono.data import Dataset
        >>> [int(x) for x in Dataset.range(6).filter(lambda x: x % 2 == 0)]
        [0, 2, 4]
        """
        return self._then(plans.Filter(self._prepare_function(predicate)))

    def take(self, count: int, name: str | None = None) -> Dataset:
        """The first `count` elements; -1 for all.

        >>> from unisono.data import Dataset
        >>> [int(x) for x in Dataset.range(6).take(2)]
        [0, 1]
        """
        return self._then(plans.Take(count))

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """All but the first `count` elements; -1 skips all.

        >>> from unisono.data import Dataset
        >>> [int(x) for x in Dataset.range(6).skip(4)]
        [4, 5]
        """
        return self._then(plans.Skip(count))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which `predicate` is false.

        >>> from unisono.data import Dataset
        >>> [int(x) for x in Dataset.range(6).take_while(lambda x: x < 2)]
        [0, 1]
        """
        return self._then(plans.TakeWhile(self._prepare_function(predicate)))

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from element `index` on.

        >>> from unisono.data import Dataset
        >>> [int(x) for x in Dataset.range(6).shard(num_shards=3, index=1)]
        [1, 4]
        """
        return self._then(plans.Shard(num_shards, index))

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """`(number, element)` for each element.

        >>> from unisono.data import Dataset
        >>> [(int(n), int(x)) for n, x in Dataset.range(5, 7).enumerate()]
        [(0, 5), (1, 6)]
        """
        return self._then(plans.Enumerate(start))

    def unique(self, name: str | None = None) -> Dataset:
        """Each element once: the first of all equal ones.

        >>> from unisono.data import Dataset
        >>> [int(x) for x in Dataset.from_tensor_slices([1, 2, 1]).unique()]
        [1, 2]
        """
        return self._then(plans.Unique())

    def scan(self, initial_state: Nest, scan_func: Callable[[Any, Any], Any], name: str | None = None) -> Dataset:
        """A map that carries a state: `scan_func(state, element)` returns `(new_state, result)`.

        >>> from unisono.data import Dataset
        >>> [int(x) for x in Dataset.range(4).scan(np.int64(0), lambda total, x: (total + x, total + x))]
        [0, 1, 3, 6]
        """
        return self._then(plans.Scan(initial_state, HostCall(self._prepare_function(scan_func), "scan")))

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """A random order, a new one in each pass unless `reshuffle_each_iteration` is False.

        Rows of arrays, ranges and lists of files are permuted fully, whatever the buffer size: stronger than
        tf.data. Elements that can only be read in order go through a buffer of that size. Without a seed one is
        drawn from NumPy's global generator, so that `keras.utils.set_random_seed` makes the order repeatable.

        >>> from unisono.data import Dataset
        >>> dataset = Dataset.from_tensor_slices([1, 2, 3]).shuffle(3, seed=0)
        >>> sorted(int(x) for x in dataset)
        [1, 2, 3]
        """
        return self._then(plans.Shuffle(buffer_size, seed, reshuffle_each_iteration is not False))

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """`count` rounds as one pass; None or -1 continues without end. A shuffle before it gives each round a
        new order.

        >>> from unisono.data import Dataset
        >>> [int(x) for x in Dataset.from_tensor_slices([1, 2]).repeat(2)]
        [1, 2, 1, 2]
        """
        return self._then(plans.Repeat(count))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of another dataset after these.

        >>> from unisono.data import Dataset
        >>> [int(x) for x in Dataset.range(2).concatenate(Dataset.range(5, 7))]
        [0, 1, 5, 6]
        """
        if not isinstance(dataset, DatasetBase):
            raise TypeError(f"concatenate: expected a Dataset, got {type(dataset).__name__}.")
        return self._then_checked(plans.Concatenate(dataset._plan))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """`map_func` makes a dataset of each element; `cycle_length` of them are read alternately,
        `block_length` elements at a time. Without a `cycle_length`, 16 are.

        >>> from unisono.data import Dataset
        >>> dataset = Dataset.range(1, 3).interleave(lambda x: Dataset.from_tensors(x).repeat(2), cycle_length=2)
        >>> [int(x) for x in dataset]
        [1, 2, 1, 2]
        """
        # A constant: the order of the elements must not depend on the machine.
        cycle = _CYCLE_LENGTH if cycle_length in (None, -1) else cycle_length
        return self._then(
            plans.Interleave(self._prepare_function(map_func), cycle, 1 if block_length is None else block_length)
        )

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """`map_func` makes a dataset of each element; they are read one after the other.

        >>> from unisono.data import Dataset
        >>> [int(x) for x in Dataset.from_tensor_slices([[1, 2], [3, 4]]).flat_map(Dataset.from_tensor_slices)]
        [1, 2, 3, 4]
        """
        return self._then(plans.Interleave(self._prepare_function(map_func), flat=True))

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """`batch_size` elements stacked into one. The last batch may be smaller: nothing is lost by default.

        >>> from unisono.data import Dataset
        >>> [x.tolist() for x in Dataset.from_tensor_slices([1, 2, 3]).batch(2)]
        [[1, 2], [3]]
        """
        return self._then(plans.Batch(batch_size, bool(drop_remainder)))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Nest = None,
        padding_values: Nest = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """`batch_size` elements padded to one shape and stacked. Open dims are as long as the longest in the batch.

        >>> from unisono.data import Dataset
        >>> rows = Dataset.range(1, 4).map(lambda n: np.full(int(n), n))
        >>> [x.tolist() for x in rows.padded_batch(3)]
        [[[1, 0, 0], [2, 2, 0], [3, 3, 3]]]
        """
        operation = plans.PaddedBatch(
            batch_size, bool(drop_remainder), padded_shapes=padded_shapes, padding_values=padding_values
        )
        return self._then_checked(operation)

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of each element, one by one.

        >>> from unisono.data import Dataset
        >>> [int(x) for x in Dataset.range(3).batch(2).unbatch()]
        [0, 1, 2]
        """
        rows = {
            leaf.shape[0] for leaf in flatten(self._known_element_spec) if isinstance(leaf, TensorSpec) and leaf.shape
        }
        num_rows = rows.pop() if len(rows) == 1 else None
        return self._then_checked(plans.Unbatch(num_rows))

    def rebatch(
        self, batch_size: int | Sequence[int], drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """The rows of all elements in batches of another size, or of several sizes one after the other.

        >>> from unisono.data import Dataset
        >>> [x.tolist() for x in Dataset.range(5).batch(2).rebatch(3)]
        [[0, 1, 2], [3, 4]]
        """
        sizes = tuple(np.atleast_1d(np.asarray(batch_size)).tolist())
        return self._then_checked(plans.Rebatch(sizes, bool(drop_remainder)))

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Nest = None,
        padding_values: Nest = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Padded batches of elements of about the same length.

        >>> from unisono.data import Dataset
        >>> rows = Dataset.range(1, 5).map(lambda n: np.full(int(n), n))
        >>> short_and_long = rows.bucket_by_sequence_length(len, [3], [2, 2])
        >>> [x.tolist() for x in short_and_long]
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]
        """
        if pad_to_bucket_boundary and padded_shapes is None:
            padded_shapes = map_leaves(lambda spec: spec.shape, self._inferred_element_spec)
        buckets = plans.Buckets(
            length=self._prepare_function(element_length_func),
            boundaries=bucket_boundaries,
            batch_sizes=bucket_batch_sizes,
            padded_shapes=padded_shapes,
            padding_values=padding_values,
            pad_to_bucket_boundary=pad_to_bucket_boundary,
            no_padding=no_padding,
        )
        return self._then(buckets.make_operation(self._from_source, bool(drop_remainder)))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Dataset], Dataset],
        window_size: int | None = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements grouped by key; `reduce_func(key, window)` makes a dataset of each `window_size` of them.

        >>> from unisono.data import Dataset
        >>> by_parity = Dataset.range(5).group_by_window(lambda x: x % 2, lambda key, window: window.batch(2), 2)
        >>> [x.tolist() for x in by_parity]
        [[0, 2], [1, 3], [4]]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError("group_by_window: pass either window_size or window_size_func.")
        size = (lambda _: window_size) if window_size_func is None else self._prepare_function(window_size_func)
        return self._then(
            plans.GroupByWindow(
                key=self._prepare_function(key_func),
                reduce=self._prepare_function(reduce_func),
                size=size,
                dataset=self._from_source,
            )
        )

    def window(
        self,
        size: int,
        shift: int | None = None,
        stride: int = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Datasets of `size` consecutive elements, each starting `shift` elements after the previous one.

        >>> from unisono.data import Dataset
        >>> windows = Dataset.range(4).window(2, shift=1, drop_remainder=True)
        >>> [x.tolist() for x in windows.flat_map(lambda window: window.batch(2))]
        [[0, 1], [1, 2], [2, 3]]
        """
        return self._then(plans.Window(size, self._from_source, shift, stride, bool(drop_remainder)))

    def cache(self, filename: str | os.PathLike[str] = "", name: str | None = None) -> Dataset:
        """Elements are computed once and kept: in memory, or in a file for this and later runs.

        >>> from unisono.data import Dataset
        >>> len(Dataset.from_tensor_slices([1, 2]).cache())
        2
        """
        path = os.fspath(filename)
        return self._then(plans.FileCache(Path(path), f"cache({path!r})", str(self._plan)) if path else plans.Cache())

    def snapshot(
        self,
        path: str | os.PathLike[str],
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements are computed once and kept in a folder, for this and later runs.

        >>> from unisono.data import Dataset
        >>> import tempfile
        >>> dataset = Dataset.range(2).snapshot(tempfile.mkdtemp())
        >>> [int(x) for x in dataset], [int(x) for x in dataset]
        ([0, 1], [0, 1])
        """
        if reader_func is not None or shard_func is not None:
            raise NotImplementedError(
                "snapshot: a snapshot is one file, read in order; reader_func and shard_func are not supported. "
                "Leave them out, and shuffle or shard after it."
            )
        folder = os.fspath(path)
        return self._then(plans.FileCache(Path(folder) / "elements", f"snapshot({folder!r})", str(self._plan)))

    def prefetch(self, buffer_size: int, name: str | None = None) -> Dataset:
        """Elements are computed ahead of time by a thread; `AUTOTUNE` leaves the number to Unisono.

        >>> from unisono.data import Dataset
        >>> from unisono.data import AUTOTUNE
        >>> len(Dataset.from_tensor_slices([1, 2]).prefetch(AUTOTUNE))
        2
        """
        return self._then(plans.Prefetch(buffer_size))

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """`transformation_func(dataset)`, for chains of methods.

        >>> from unisono.data import Dataset
        >>> len(Dataset.range(10).apply(lambda dataset: dataset.take(3)))
        3
        """
        result = transformation_func(cast("Dataset", self))
        if not isinstance(result, DatasetBase):
            raise TypeError(f"apply: the function must return a Dataset, but it returned {type(result).__name__}.")
        return result

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same elements, with options, such as how workers share them.

        >>> from unisono.data import Dataset
        >>> Dataset.range(3).with_options(Options()).options().deterministic is None
        True
        """
        return self._then(plans.WithOptions(options))

    def options(self) -> Options:
        """The options that were given to it and to the datasets it is made of: of each member the last value."""
        return plans.merge_options(self._plan)
