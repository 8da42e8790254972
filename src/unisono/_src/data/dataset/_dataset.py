"""Dataset: tf.data's methods over a plan."""

from __future__ import annotations

import builtins
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from unisono._src.data.dataset._element_spec import UNKNOWN, Stage, trace_stages
from unisono._src.data.dataset._execution import Execution, plan_execution
from unisono._src.data.dataset._explain import format_decisions
from unisono._src.data.dataset._file_names import file_names
from unisono._src.data.dataset._host_call import HostCall
from unisono._src.data.dataset._iterator import DatasetIterator
from unisono._src.data.dataset._signature import signature_from
from unisono._src.data.dataset._spec import TensorSpec
from unisono._src.data.dataset._trace import Untraceable
from unisono._src.data.plans import (
    INFINITE_CARDINALITY,
    ArraySlices,
    Batch,
    Buckets,
    Cache,
    ChosenElements,
    Concatenate,
    Counter,
    ElementWriter,
    Enumerate,
    FileCache,
    Filter,
    GeneratedElements,
    GroupByWindow,
    Interleave,
    Map,
    Nest,
    Operation,
    Options,
    PaddedBatch,
    Plan,
    Prefetch,
    RandomChoices,
    RandomNumbers,
    Range,
    Rebatch,
    Repeat,
    SavedElements,
    Scan,
    Shard,
    Shuffle,
    Skip,
    Source,
    Take,
    TakeWhile,
    Unbatch,
    Unique,
    Window,
    WithOptions,
    ZippedPlans,
    as_arrays,
    check_state_type,
    flatten,
    map_leaves,
    num_host_threads,
)
from unisono._src.keras_hooks import report_data_pull
from unisono._src.processes import broadcast_seeds_from_chief, processes


class Dataset:
    """Elements, and what is to be done to them: each method returns a new dataset and computes nothing.

    >>> import numpy as np
    >>> from unisono.data import Dataset
    >>> images, labels = np.zeros((10, 28, 28), np.uint8), np.arange(10)
    >>> dataset = Dataset.from_tensor_slices((images, labels)).map(lambda x, y: (x / 255, y)).batch(4)
    >>> [len(y) for x, y in dataset]
    [4, 4, 2]

    Arguments named `name` and `deterministic` are tf.data's; they are taken and change nothing: the order is
    always deterministic.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._next_iteration = 0
        self._agreed: Dataset | None = None

    # Sources

    @staticmethod
    def from_tensor_slices(tensors: Nest, name: str | None = None) -> Dataset:
        """One element for each row of an array, or of a tuple or dict of arrays with equally many rows.

        Arrays of `numpy.load(path, mmap_mode="r")` may be larger than memory: rows are read when they are needed.

        >>> [int(x) for x in Dataset.from_tensor_slices([1, 2, 3])]
        [1, 2, 3]
        """
        return Dataset(Plan(ArraySlices(tensors)))

    @staticmethod
    def from_tensors(tensors: Nest, name: str | None = None) -> Dataset:
        """One element: all of `tensors`.

        >>> [x.tolist() for x in Dataset.from_tensors([1, 2, 3])]
        [[1, 2, 3]]
        """
        return Dataset(Plan(ArraySlices.of_one(tensors)))

    @staticmethod
    def from_generator(
        generator: Callable[..., Iterable[Nest]],
        output_types: Nest = None,
        output_shapes: Nest = None,
        args: Sequence[Any] | None = None,
        output_signature: Nest = None,
        name: str | None = None,
    ) -> Dataset:
        """What a Python function yields; it is called anew for each pass.

        `output_signature` is a nest of TensorSpec; without one the first element decides what all look like.

        >>> dataset = Dataset.from_generator(lambda: iter([[1], [2, 3]]), output_signature=TensorSpec((None,), "int64"))
        >>> [x.tolist() for x in dataset]
        [[1], [2, 3]]
        """
        function = generator if not args else lambda: generator(*args)
        return Dataset(Plan(GeneratedElements(function, signature_from(output_signature, output_types, output_shapes))))

    @staticmethod
    def range(*args: int, output_type: DTypeLike = np.int64, name: str | None = None, **_: Any) -> Dataset:
        """The numbers of Python's `range`.

        >>> [int(x) for x in Dataset.range(2, 8, 3)]
        [2, 5]
        """
        numbers = builtins.range(*(int(np.asarray(number)) for number in args))
        return Dataset(Plan(Range(numbers, np.dtype(output_type))))

    @staticmethod
    def counter(start: int = 0, step: int = 1, dtype: DTypeLike = np.int64, name: str | None = None) -> Dataset:
        """Numbers without end.

        >>> [int(x) for x in Dataset.counter(5).take(2)]
        [5, 6]
        """
        return Dataset(Plan(Counter(int(start), int(step), np.dtype(dtype))))

    @staticmethod
    def random(
        seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """Random numbers of 32 bits without end.

        >>> len(set(int(x) for x in Dataset.random(seed=4).take(3)))
        3
        """
        return Dataset(Plan(RandomNumbers(seed, bool(rerandomize_each_iteration) or seed is None)))

    @staticmethod
    def load(path: str | os.PathLike[str], element_spec: Nest = None, **_: Any) -> Dataset:
        """What `save` wrote.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> Dataset.range(3).save(folder)
        >>> [int(x) for x in Dataset.load(folder)]
        [0, 1, 2]
        """
        return Dataset(Plan(SavedElements(Path(path) / "elements")))

    @staticmethod
    def zip(*args: Nest, datasets: Nest = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, as long as the shortest. Takes datasets, or a nest of them.

        >>> letters = Dataset.from_tensor_slices(["a", "b"])
        >>> [(int(n), letter.item()) for n, letter in Dataset.zip(Dataset.range(10), letters)]
        [(0, 'a'), (1, 'b')]
        """
        nest = args if len(args) > 1 else args[0] if args else datasets
        leaves = flatten(nest)
        fits = bool(leaves) and all(isinstance(leaf, Dataset) for leaf in leaves) and not isinstance(nest, list)
        if not fits or (args and datasets is not None):
            raise TypeError(f"zip: expected datasets, alone or in tuples and dicts, got {nest!r}. Write zip((a, b)).")
        return Dataset(Plan(ZippedPlans(map_leaves(lambda dataset: dataset.plan, nest))))

    @staticmethod
    def list_files(
        file_pattern: str | Path | Sequence[str | Path] | Dataset,
        shuffle: bool | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The names of files that fit a pattern, or one of several. In a new random order in each pass, unless
        `shuffle` is False.

        >>> len(Dataset.list_files("no/such/*.txt"))
        Traceback (most recent call last):
        FileNotFoundError: list_files: no file fits 'no/such/*.txt'. Check the pattern, seen from the working folder.
        """
        patterns = file_names(file_pattern)
        names = sorted({name for pattern in patterns for name in glob.glob(pattern, recursive=True)})
        if not names:
            raise FileNotFoundError(
                f"list_files: no file fits {', '.join(map(repr, patterns))}. "
                f"Check the pattern, seen from the working folder."
            )
        files = Dataset.from_tensor_slices(names)
        return files if shuffle is False else files.shuffle(len(names), seed)

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Dataset],
        weights: Sequence[float] | None = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Each element from a dataset drawn at random, by weight; equal weights if there are none.

        >>> mixed = Dataset.sample_from_datasets([Dataset.range(3), Dataset.range(10, 13)], seed=1)
        >>> sorted(int(x) for x in mixed)
        [0, 1, 2, 10, 11, 12]
        """
        if isinstance(weights, Dataset):
            raise NotImplementedError(
                "sample_from_datasets: weights that change with time (a Dataset of them) are not there. "
                "Pass a list of numbers, or write the choices yourself: choose_from_datasets."
            )
        plans = _plans(datasets, "sample_from_datasets")
        weights = [1.0] * len(plans) if weights is None else [float(weight) for weight in np.asarray(weights)]
        if len(weights) != len(plans):
            raise ValueError(f"sample_from_datasets: {len(plans)} datasets and {len(weights)} weights. Give one each.")
        # A dataset that is never drawn must not keep the others waiting for its end.
        drawn = [(plan, weight) for plan, weight in builtins.zip(plans, weights, strict=True) if weight != 0]
        if len(drawn) == 1:
            return Dataset(drawn[0][0])
        choices = RandomChoices(
            tuple(weight for _, weight in drawn), seed, bool(rerandomize_each_iteration) or seed is None
        )
        return Dataset(Plan(ChosenElements(tuple(plan for plan, _ in drawn), Plan(choices), stop_on_empty_dataset)))

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """The next element of dataset `i` for each number `i` in `choice_dataset`.

        >>> chosen = Dataset.choose_from_datasets([Dataset.range(3), Dataset.range(10, 13)], Dataset.range(2).repeat(2))
        >>> [int(x) for x in chosen]
        [0, 10, 1, 11]
        """
        plans = _plans(datasets, "choose_from_datasets")
        return Dataset(Plan(ChosenElements(tuple(plans), choice_dataset.plan, stop_on_empty_dataset)))

    # Elements

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
        tells which, and why.

        Random numbers of `keras.random`, of Keras's random layers and of `unisono.data.random` differ for each
        element and epoch, and are the same in every run with the same seeds.

        >>> dataset = Dataset.from_tensor_slices(([1, 2], [3, 4])).map(lambda x, y: x * y)
        >>> [int(x) for x in dataset]
        [3, 8]
        """
        return self.then(Map(HostCall(self.prepare_function(map_func), "map"), num_parallel_calls))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of which `predicate` is true.

        >>> [int(x) for x in Dataset.range(6).filter(lambda x: x % 2 == 0)]
        [0, 2, 4]
        """
        return self.then(Filter(self.prepare_function(predicate)))

    def take(self, count: int, name: str | None = None) -> Dataset:
        """The first `count` elements; -1 for all.

        >>> [int(x) for x in Dataset.range(6).take(2)]
        [0, 1]
        """
        return self.then(Take(count))

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """All but the first `count` elements; -1 skips all.

        >>> [int(x) for x in Dataset.range(6).skip(4)]
        [4, 5]
        """
        return self.then(Skip(count))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first of which `predicate` is false.

        >>> [int(x) for x in Dataset.range(6).take_while(lambda x: x < 2)]
        [0, 1]
        """
        return self.then(TakeWhile(self.prepare_function(predicate)))

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from element `index` on.

        >>> [int(x) for x in Dataset.range(6).shard(num_shards=3, index=1)]
        [1, 4]
        """
        return self.then(Shard(num_shards, index))

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """`(number, element)` for each element.

        >>> [(int(n), int(x)) for n, x in Dataset.range(5, 7).enumerate()]
        [(0, 5), (1, 6)]
        """
        return self.then(Enumerate(start))

    def unique(self, name: str | None = None) -> Dataset:
        """Each element once: the first of all equal ones.

        >>> [int(x) for x in Dataset.from_tensor_slices([1, 2, 1]).unique()]
        [1, 2]
        """
        return self.then(Unique())

    def scan(self, initial_state: Nest, scan_func: Callable[[Any, Any], Any], name: str | None = None) -> Dataset:
        """A map that carries a state: `scan_func(state, element)` returns `(new_state, result)`.

        >>> [int(x) for x in Dataset.range(4).scan(np.int64(0), lambda total, x: (total + x, total + x))]
        [0, 1, 3, 6]
        """
        return self.then(Scan(initial_state, HostCall(self.prepare_function(scan_func), "scan")))

    def reduce(self, initial_state: Nest, reduce_func: Callable[[Any, Any], Any], name: str | None = None) -> Nest:
        """`reduce_func(state, element)` over all elements; the last state. This one computes.

        >>> int(Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x))
        10
        """
        if self.cardinality() == INFINITE_CARDINALITY:
            raise ValueError(f"reduce: {self._plan} never ends. Put take(count) before it.")
        operation = Scan(initial_state, HostCall(self.prepare_function(reduce_func), "reduce"))
        state = as_arrays(initial_state, operation)
        for element in self:
            following = as_arrays(operation.function(state, element), operation)
            check_state_type(state, following, operation)
            state = following
        return state

    # Order

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """A random order, a new one in each pass unless `reshuffle_each_iteration` is False.

        Rows of arrays, ranges and lists of files are permuted fully, whatever the buffer size: stronger than
        tf.data. What can only be read one after the other goes through a buffer of that size. Without a seed one is
        drawn from NumPy's global generator, so that `keras.utils.set_random_seed` makes the order repeatable.

        >>> dataset = Dataset.from_tensor_slices([1, 2, 3]).shuffle(3, seed=0)
        >>> sorted(int(x) for x in dataset)
        [1, 2, 3]
        """
        return self.then(Shuffle(buffer_size, seed, reshuffle_each_iteration is not False))

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """`count` rounds as one pass; None or -1 goes on without end. A shuffle before it reorders each
        round.

        >>> [int(x) for x in Dataset.from_tensor_slices([1, 2]).repeat(2)]
        [1, 2, 1, 2]
        """
        return self.then(Repeat(count))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of another dataset after these.

        >>> [int(x) for x in Dataset.range(2).concatenate(Dataset.range(5, 7))]
        [0, 1, 5, 6]
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(f"concatenate: expected a Dataset, got {type(dataset).__name__}.")
        return self.then(Concatenate(dataset.plan))._check_spec()

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """`map_func` makes a dataset of each element; `cycle_length` of them are read in turn, `block_length`
        elements at a time.

        >>> dataset = Dataset.range(1, 3).interleave(lambda x: Dataset.from_tensors(x).repeat(2), cycle_length=2)
        >>> [int(x) for x in dataset]
        [1, 2, 1, 2]
        """
        cycle = num_host_threads(-1) if cycle_length in (None, -1) else cycle_length
        return self.then(
            Interleave(self.prepare_function(map_func), cycle, 1 if block_length is None else block_length)
        )

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """`map_func` makes a dataset of each element; they are read one after the other.

        >>> [int(x) for x in Dataset.from_tensor_slices([[1, 2], [3, 4]]).flat_map(Dataset.from_tensor_slices)]
        [1, 2, 3, 4]
        """
        return self.then(Interleave(self.prepare_function(map_func), flat=True))

    # Batches

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """`batch_size` elements stacked into one. The last batch may be smaller: nothing is lost by default.

        >>> [x.tolist() for x in Dataset.from_tensor_slices([1, 2, 3]).batch(2)]
        [[1, 2], [3]]
        """
        return self.then(Batch(batch_size, bool(drop_remainder)))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Nest = None,
        padding_values: Nest = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """`batch_size` elements padded to one shape and stacked. Open dims are as long as the longest in the batch.

        >>> rows = Dataset.range(1, 4).map(lambda n: np.full(int(n), n))
        >>> [x.tolist() for x in rows.padded_batch(3)]
        [[[1, 0, 0], [2, 2, 0], [3, 3, 3]]]
        """
        return self.then(PaddedBatch(batch_size, padded_shapes, padding_values, bool(drop_remainder)))._check_spec()

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of each element, one by one.

        >>> [int(x) for x in Dataset.range(3).batch(2).unbatch()]
        [0, 1, 2]
        """
        rows = {
            leaf.shape[0] for leaf in flatten(self.known_element_spec) if isinstance(leaf, TensorSpec) and leaf.shape
        }
        num_rows = rows.pop() if len(rows) == 1 else None
        return self.then(Unbatch(num_rows))._check_spec()

    def rebatch(
        self, batch_size: int | Sequence[int], drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """The rows of all elements in batches of another size, or of several sizes in turn.

        >>> [x.tolist() for x in Dataset.range(5).batch(2).rebatch(3)]
        [[0, 1, 2], [3, 4]]
        """
        sizes = tuple(np.atleast_1d(np.asarray(batch_size)).tolist())
        return self.then(Rebatch(sizes, bool(drop_remainder)))._check_spec()

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

        >>> rows = Dataset.range(1, 5).map(lambda n: np.full(int(n), n))
        >>> short_and_long = rows.bucket_by_sequence_length(len, [3], [2, 2])
        >>> [x.tolist() for x in short_and_long]
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]
        """
        if pad_to_bucket_boundary and padded_shapes is None:
            padded_shapes = map_leaves(lambda spec: spec.shape, self.inferred_element_spec)
        buckets = Buckets(
            length=self.prepare_function(element_length_func),
            boundaries=bucket_boundaries,
            batch_sizes=bucket_batch_sizes,
            padded_shapes=padded_shapes,
            padding_values=padding_values,
            pad_to_bucket_boundary=pad_to_bucket_boundary,
            no_padding=no_padding,
        )
        return self.then(buckets.grouping(self._from_source, bool(drop_remainder)))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Dataset], Dataset],
        window_size: int | None = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements collected by key; `reduce_func(key, window)` makes a dataset of each `window_size` of them.

        >>> by_parity = Dataset.range(5).group_by_window(lambda x: x % 2, lambda key, window: window.batch(2), 2)
        >>> [x.tolist() for x in by_parity]
        [[0, 2], [1, 3], [4]]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError("group_by_window: pass either window_size or window_size_func.")
        size = (lambda _: window_size) if window_size_func is None else self.prepare_function(window_size_func)
        return self.then(
            GroupByWindow(
                key=self.prepare_function(key_func),
                reduce=self.prepare_function(reduce_func),
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
        """Datasets of `size` consecutive elements, each beginning `shift` after the one before.

        >>> windows = Dataset.range(4).window(2, shift=1, drop_remainder=True)
        >>> [x.tolist() for x in windows.flat_map(lambda window: window.batch(2))]
        [[0, 1], [1, 2], [2, 3]]
        """
        return self.then(Window(size, self._from_source, shift, stride, bool(drop_remainder)))

    # Running

    def cache(self, filename: str | os.PathLike[str] = "", name: str | None = None) -> Dataset:
        """Elements are computed once and kept: in memory, or in a file for this run and later ones.

        >>> len(Dataset.from_tensor_slices([1, 2]).cache())
        2
        """
        path = os.fspath(filename)
        return self.then(FileCache(Path(path), f"cache({path!r})", str(self._plan)) if path else Cache())

    def snapshot(
        self,
        path: str | os.PathLike[str],
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements are computed once and kept in a folder, for this run and later ones.

        >>> import tempfile
        >>> dataset = Dataset.range(2).snapshot(tempfile.mkdtemp())
        >>> [int(x) for x in dataset], [int(x) for x in dataset]
        ([0, 1], [0, 1])
        """
        if reader_func is not None or shard_func is not None:
            raise NotImplementedError(
                "snapshot: a snapshot is one file, read in order; reader_func and shard_func are not there. "
                "Leave them out, and shuffle or shard after it."
            )
        folder = os.fspath(path)
        return self.then(FileCache(Path(folder) / "elements", f"snapshot({folder!r})", str(self._plan)))

    def save(self, path: str | os.PathLike[str], **_: Any) -> None:
        """Writes all elements into a folder, for `Dataset.load`. This one computes."""
        if self.cardinality() == INFINITE_CARDINALITY:
            raise ValueError(f"save: {self._plan} never ends. Put take(count) before it.")
        writer = ElementWriter(Path(path) / "elements", str(self._plan))
        try:
            for element in self:
                writer.write(element)
            writer.commit()
        finally:
            writer.discard()

    def prefetch(self, buffer_size: int, name: str | None = None) -> Dataset:
        """Elements are computed ahead of time by a thread; `AUTOTUNE` leaves the number to Unisono.

        >>> from unisono.data import AUTOTUNE
        >>> len(Dataset.from_tensor_slices([1, 2]).prefetch(AUTOTUNE))
        2
        """
        return self.then(Prefetch(buffer_size))

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """`transformation_func(dataset)`, for chains of methods.

        >>> len(Dataset.range(10).apply(lambda dataset: dataset.take(3)))
        3
        """
        result = transformation_func(self)
        if not isinstance(result, Dataset):
            raise TypeError(f"apply: the function must return a Dataset, but it returned {type(result).__name__}.")
        return result

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same elements, with options such as how workers share them.

        >>> Dataset.range(3).with_options(Options()).options().deterministic is None
        True
        """
        return self.then(WithOptions(options))

    def options(self) -> Options:
        """The options that were given last, or their defaults."""
        given = [each.options for each in self._plan.operations if isinstance(each, WithOptions)]
        return given[-1] if given else Options()

    # Questions

    @property
    def plan(self) -> Plan:
        """The source and the operations, as data."""
        return self._plan

    def then(self, operation: Operation) -> Dataset:
        """This dataset with one more operation at its end."""
        return self.from_plan(self._plan.then(operation))

    # For subclasses, which meet their users in another manner

    @classmethod
    def from_plan(cls, plan: Plan) -> Dataset:
        """A dataset with another plan. Subclasses that meet their users in another manner return one of theirs."""
        return Dataset(plan)

    def prepare_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What is called in place of a user's function."""
        return function

    def convert_spec(self, spec: Nest) -> Nest:
        """What users see of a spec."""
        return spec

    @cached_property
    def execution(self) -> Execution:
        """How the plan runs on the host."""
        return plan_execution(self._plan, self._traced)

    def explain(self) -> str:
        """What will run where, and why not better: the answer to "is my input slow?".

        >>> print(Dataset.range(100).shuffle(100).map(lambda x: x * 2).batch(10).explain())
        range(100)   row numbers
        shuffle(100) row numbers
        map(lambda)  compiled
        batch(10)    row numbers
        <BLANKLINE>
        In fit: rows are gathered and mapped inside the compiled step; Python does not run for a batch.
        """
        return format_decisions(self.execution)

    @property
    def element_spec(self) -> Nest:
        """The shape and dtype of each leaf of an element; None stands for a dimension that may vary.

        >>> Dataset.from_tensor_slices([[1.0, 2.0]]).map(lambda x: x.sum()).batch(8).element_spec
        TensorSpec(shape=(None,), dtype=float64)
        """
        return self.inferred_element_spec

    @property
    def inferred_element_spec(self) -> Nest:
        """The same, whatever a subclass makes of `element_spec`."""
        return self._traced[-1].spec if self._traced[-1].spec is not UNKNOWN else self._spec

    @property
    def known_element_spec(self) -> Nest:
        """The same without running anything; None where a user's function would have to run."""
        return None if self._traced[-1].spec is UNKNOWN else self._traced[-1].spec

    def cardinality(self) -> int:
        """The number of elements in one pass, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.

        >>> Dataset.from_tensor_slices([1, 2]).repeat().cardinality()
        -1
        """
        return self._plan.cardinality

    def next_iteration(self) -> int:
        """0, 1, 2, …: the number of a new pass over this object. Passes with different numbers shuffle
        differently.

        >>> dataset = Dataset.from_tensor_slices([1, 2])
        >>> dataset.next_iteration(), dataset.next_iteration()
        (0, 1)
        """
        number, self._next_iteration = self._next_iteration, self._next_iteration + 1
        return number

    def with_seeds(self, seeds: Sequence[int]) -> Dataset:
        """The same dataset with other seeds, as `plan.seeds` lists them: those of another run, say."""
        return self.from_plan(self._plan.with_seeds(seeds))

    def with_agreed_seeds(self) -> Dataset:
        """The same dataset with the seeds of the chief, if several processes train together: all have to call it.

        The same object every time, so that its passes go on counting.
        """
        if self._agreed is None:
            seeds = self._plan.seeds
            alone = not seeds or processes().count == 1
            self._agreed = self if alone else self.with_seeds(broadcast_seeds_from_chief(seeds))
            self._agreed._agreed = self._agreed
        return self._agreed

    def resume_from(self, seeds: Sequence[int], num_by_row: int | None, next_iteration: int) -> None:
        """Makes this dataset that of an earlier run: its seeds, its executor, and the number of its next pass."""
        other_seeds = list(seeds) != list(self._plan.seeds)
        if other_seeds:
            self._plan, self._agreed = self._plan.with_seeds(seeds), None
            self.__dict__.pop("_traced", None)
        if other_seeds or self.execution.num_by_row != num_by_row:
            self.execution = plan_execution(self._plan, self._traced, num_by_row)
        self._next_iteration = max(self._next_iteration, next_iteration)  # one that trains and validates has two places

    def as_numpy_iterator(self) -> Iterator[Nest]:
        """The elements of a new pass, with NumPy's numbers instead of arrays without dimensions.

        >>> list(Dataset.range(3).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        return (map_leaves(_as_number, element) for element in self)

    def get_single_element(self, name: str | None = None) -> Nest:
        """The only element.

        >>> int(Dataset.from_tensors(3).get_single_element())
        3
        """
        elements = list(self.take(2))
        if len(elements) != 1:
            found = "none" if not elements else "more than one"
            raise ValueError(f"get_single_element: expected one element, and there is {found}: {self._plan}.")
        return elements[0]

    def __iter__(self) -> DatasetIterator:
        report_data_pull()
        return DatasetIterator(self, lambda dataset: dataset.execution.plan, self.next_iteration())

    def __len__(self) -> int:
        number = self.cardinality()
        if number == INFINITE_CARDINALITY:
            raise TypeError(
                f"This dataset has no length, it repeats without end: {self._plan}. "
                f"Write repeat(count), or tell fit where an epoch ends: steps_per_epoch=..."
            )
        if number < 0:
            raise TypeError(f"The length of this dataset is not known before it has been read: {self._plan}.")
        return number

    def __bool__(self) -> bool:
        return True  # `if dataset:` asks whether there is a dataset, as in tf.data; not for its length

    def __repr__(self) -> str:
        # A debugger calls this: it must not run the user's functions.
        known = self._traced[-1].spec is not UNKNOWN or "_spec" in self.__dict__
        spec = self.element_spec if known else f"unknown ({self._why_unknown()})"
        return f"<{type(self).__name__}: {self._plan}, element_spec={spec}>"

    @classmethod
    def _from_source(cls, source: Source) -> Dataset:
        return cls.from_plan(Plan(source))

    def _why_unknown(self) -> str:
        stage = next(stage for stage in self._traced if stage.spec is UNKNOWN)
        if isinstance(stage.traced, Untraceable):
            return f"{stage.operation} cannot be traced: {stage.traced.reason}"
        return f"{stage.operation or self._plan.source} has not run"

    @cached_property
    def _traced(self) -> list[Stage]:
        """What can be told about the elements without running anything."""
        return trace_stages(self._plan, may_run=False)

    @cached_property
    def _spec(self) -> Nest:
        """What the first element tells, for functions that cannot be traced."""
        return trace_stages(self._plan)[-1].spec

    def _check_spec(self) -> Dataset:
        """Itself, after an error if its parts do not fit together, as far as that is known."""
        _ = self._traced
        return self


def _plans(datasets: Sequence[Dataset], call: str) -> list[Plan]:
    if not datasets or not all(isinstance(dataset, Dataset) for dataset in datasets):
        raise TypeError(f"{call}: expected a list of at least one Dataset, got {datasets!r}.")
    plans = [dataset.plan for dataset in datasets]
    Dataset(Plan(ChosenElements(tuple(plans), Dataset.range(0).plan)))._check_spec()
    return plans


def _as_number(leaf: Any) -> Any:
    return np.asarray(leaf)[()] if isinstance(leaf, np.ndarray) else leaf
