"""Dataset: tf.data's constructors. `_transformations.py` has its other methods, `_dataset_base.py` how it is read."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from unisono._src.data.dataset._transformations import Transformations
from unisono._src.data.plans import (
    ArraySlices,
    AutoShardPolicy,
    ChoiceSource,
    Counter,
    ElementSignature,
    GeneratorSource,
    LoadedSource,
    Nest,
    Options,
    Plan,
    RandomNumbers,
    Range,
    RayBlocks,
    Unbatch,
    WithOptions,
    ZippedPlans,
    find_files,
    flatten,
    map_leaves,
    sample_plans,
)


class Dataset(Transformations):
    """A source of elements and the operations on them. Each method returns a new dataset and does not compute anything.

    >>> import numpy as np
    >>> from unisono.data import Dataset
    >>> images, labels = np.zeros((10, 28, 28), np.uint8), np.arange(10)
    >>> dataset = Dataset.from_tensor_slices((images, labels)).map(lambda x, y: (x / 255, y)).batch(4)
    >>> [len(y) for x, y in dataset]
    [4, 4, 2]

    Arguments named `name` and `deterministic` are accepted for compatibility with tf.data, without effect: the order
    is always deterministic.
    """

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
        """The elements that a Python function yields. It is called again for each pass.

        `output_signature` is a nest of TensorSpec. Without one, the first element determines the structure of all.

        >>> from unisono.data import TensorSpec
        >>> dataset = Dataset.from_generator(lambda: iter([[1], [2, 3]]), output_signature=TensorSpec((None,), "int64"))
        >>> [x.tolist() for x in dataset]
        [[1], [2, 3]]
        """
        function = generator if not args else lambda: generator(*args)
        signature = ElementSignature.from_arguments(output_signature, output_types, output_shapes)
        return Dataset(Plan(GeneratorSource(function, signature)))

    @staticmethod
    def from_ray(data: Any) -> Dataset:
        """The rows of a Ray Dataset, each a dict with an array for each column.

        In a worker of Ray Train, pass `ray.train.get_dataset_shard(name)`: each worker reads its own shard, and
        `batch(size)` still means the global batch. A `ray.data.Dataset` itself is read whole by every worker.

        `batch` cuts the blocks of Ray without copying single rows. Texts are byte strings. See docs/ray.md for the
        position in a checkpoint.

        >>> Dataset.from_ray([1, 2])
        Traceback (most recent call last):
        TypeError: from_ray: expected a ray.data.Dataset, or what ray.train.get_dataset_shard(name) returns; got list.
        """
        source = RayBlocks(data)
        plan = Plan(source)
        if source.is_shard:
            options = Options()
            options.experimental_distribute.auto_shard_policy = AutoShardPolicy.OFF
            plan = plan.then(WithOptions(options))
        return Dataset(plan.then(Unbatch()))

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
        """The elements that `save` wrote.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> Dataset.range(3).save(folder)
        >>> [int(x) for x in Dataset.load(folder)]
        [0, 1, 2]
        """
        return Dataset(Plan(LoadedSource(Path(path) / "elements")))

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
        return Dataset(Plan(ZippedPlans(map_leaves(lambda dataset: dataset._plan, nest))))

    @staticmethod
    def list_files(
        file_pattern: str | Path | Sequence[str | Path] | Dataset,
        shuffle: bool | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The names of files that match a pattern, or one of several. In a new random order in each pass, unless
        `shuffle` is False.

        >>> len(Dataset.list_files("no/such/*.txt"))
        Traceback (most recent call last):
        FileNotFoundError: list_files: no file matches 'no/such/*.txt'. Check the pattern and the working folder.
        """
        names = find_files(file_pattern)
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
                "sample_from_datasets: weights that change with time (a Dataset of them) are not supported. "
                "Pass a list of numbers, or write the choices yourself: choose_from_datasets."
            )
        plans = _check_plans(datasets, "sample_from_datasets")
        is_reshuffled = bool(rerandomize_each_iteration) or seed is None
        return Dataset(sample_plans(plans, weights, seed, stop_on_empty_dataset, is_reshuffled))

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """The next element of dataset `i` for each number `i` in `choice_dataset`.

        >>> chosen = Dataset.choose_from_datasets([Dataset.range(3), Dataset.range(10, 13)], Dataset.range(2).repeat(2))
        >>> [int(x) for x in chosen]
        [0, 10, 1, 11]
        """
        plans = _check_plans(datasets, "choose_from_datasets")
        return Dataset(Plan(ChoiceSource(plans, choice_dataset._plan, stop_on_empty_dataset)))

    @classmethod
    def _from_plan(cls, plan: Plan) -> Dataset:
        return Dataset(plan)


def _check_plans(datasets: Sequence[Dataset], call: str) -> tuple[Plan, ...]:
    if not datasets or not all(isinstance(dataset, Dataset) for dataset in datasets):
        raise TypeError(f"{call}: expected a list of at least one Dataset, got {datasets!r}.")
    plans = tuple(dataset._plan for dataset in datasets)
    _ = Dataset(
        Plan(ChoiceSource(plans, Dataset.range(0)._plan))
    )._known_element_spec  # raises if they do not fit together
    return plans
