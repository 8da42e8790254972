"""Functions of `tf.data.experimental` that are methods of `Dataset` today. Most return an argument for `apply`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, TypeAlias

from unisono import data
from unisono._src.data.plans import Nest, flatten, unflatten
from unisono.tf._spec import as_tf_spec
from unisono.tf._unsupported import unsupported_function
from unisono.tf.data._conversions import Cardinality
from unisono.tf.data._dataset import Dataset

Transformation: TypeAlias = Callable[[data.Dataset], data.Dataset]


def _transformation_by_method(name: str) -> Callable[..., Transformation]:
    """Creates a function that returns a transformation for `apply`, which calls the method of that name."""

    def bind_arguments(*args: Any, **kwargs: Any) -> Transformation:
        def transform(dataset: data.Dataset) -> data.Dataset:
            transformed: data.Dataset = getattr(dataset, name)(*args, **kwargs)
            return transformed

        return transform

    bind_arguments.__name__ = bind_arguments.__qualname__ = name
    bind_arguments.__doc__ = f"For `apply`: calls the method `{name}`."
    return bind_arguments


bucket_by_sequence_length = _transformation_by_method("bucket_by_sequence_length")
enumerate_dataset = _transformation_by_method("enumerate")
group_by_window = _transformation_by_method("group_by_window")
rejection_resample = _transformation_by_method("rejection_resample")
scan = _transformation_by_method("scan")
snapshot = _transformation_by_method("snapshot")
take_while = _transformation_by_method("take_while")
unbatch = _transformation_by_method("unbatch")
unique = _transformation_by_method("unique")

Counter = Dataset.counter
RandomDataset = Dataset.random
choose_from_datasets = Dataset.choose_from_datasets
sample_from_datasets = Dataset.sample_from_datasets
load = Dataset.load

dense_to_ragged_batch = _transformation_by_method("ragged_batch")
dense_to_sparse_batch = _transformation_by_method("sparse_batch")


def cardinality(dataset: data.Dataset) -> Cardinality:
    """`dataset.cardinality()`."""
    return Cardinality(dataset.cardinality())


def save(dataset: data.Dataset, path: Any, **options: Any) -> None:
    """`dataset.save(path)`."""
    dataset.save(path, **options)


def get_single_element(dataset: data.Dataset) -> Nest:
    """`dataset.get_single_element()`."""
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Any) -> Nest:
    """The spec of the elements."""
    return as_tf_spec(dataset_or_iterator.element_spec)


def get_next_as_optional(iterator: Any) -> data.Optional:
    """`iterator.get_next_as_optional()`."""
    optional: data.Optional = iterator.get_next_as_optional()
    return optional


def from_list(elements: Sequence[Nest], name: str | None = None) -> Dataset:
    """One element for each item of a list; all have the same structure."""
    if not elements:
        raise ValueError("from_list: the list is empty. Pass at least one element.")
    leaves = zip(*[flatten(element) for element in elements], strict=True)
    return Dataset.from_tensor_slices(unflatten(elements[0], map(list, leaves)))


def at(dataset: data.Dataset, index: Any) -> Nest:
    """The element at an index; the elements before it are read."""
    for element in islice(iter(dataset.skip(int(index))), 1):
        return element
    raise IndexError(f"at: there is no element {int(index)} in {dataset}.")


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: int,
    num_parallel_batches: int | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: int | None = None,
) -> Transformation:
    """For `apply`: `map(map_func).batch(batch_size)`."""
    parallel = data.AUTOTUNE if num_parallel_batches is not None else num_parallel_calls
    return lambda dataset: dataset.map(map_func, parallel).batch(batch_size, drop_remainder)


def shuffle_and_repeat(buffer_size: int, count: int | None = None, seed: int | None = None) -> Transformation:
    """For `apply`: `shuffle(buffer_size, seed).repeat(count)`."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: int,
    block_length: int = 1,
    sloppy: bool | None = False,
    buffer_output_elements: int | None = None,
    prefetch_input_elements: int | None = None,
) -> Transformation:
    """For `apply`: `interleave(map_func, cycle_length, block_length)`. The order is always the same."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, data.AUTOTUNE)


def prefetch_to_device(device: str, buffer_size: int | None = None) -> Transformation:
    """For `apply`: `prefetch`. Elements are copied to devices when a strategy or a model reads them."""
    return lambda dataset: dataset.prefetch(data.AUTOTUNE if buffer_size is None else buffer_size)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """For `apply`: returns the dataset. Elements are copied to devices when a strategy or a model reads them."""
    return lambda dataset: dataset


def ignore_errors(log_warning: bool = False) -> Transformation:
    """Not supported. Elements whose function fails are not dropped silently; mark them, and drop them with filter."""
    return unsupported_function(
        "tf.data.experimental.ignore_errors",
        "elements whose function fails are not dropped silently; catch the error inside the function, return a "
        "flag with the element, and drop flagged elements with filter.",
    )


def enable_debug_mode() -> None:
    """Does nothing: functions that cannot be compiled run in Python anyway, and `dataset.explain()` lists them."""
