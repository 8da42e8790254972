"""Errors about data: what was found, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unisono.data import Dataset, FixedLengthRecordDataset, TensorSpec, TextLineDataset, TFRecordDataset
from unisono.data.experimental import assert_cardinality
from unisono.io import TFRecordWriter


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "data.tfrecord"
    with TFRecordWriter(path) as writer:
        for number in range(10):
            writer.write(b"record %d" % number)
    return path


@pytest.mark.parametrize(
    ("damage", "number"),
    [
        (lambda data: data[:-3], 9),
        (lambda data: data[:-14], 9),
        (lambda data: data[:100] + bytes([data[100] ^ 255]) + data[101:], 4),
        (lambda data: data[:48] + bytes([data[48] ^ 255]) + data[49:], 2),
    ],
    ids=["cut in the checksum", "cut in the data", "other data", "another length"],
)
def test_a_damaged_record_is_named_and_those_before_it_are_given(
    damage: Callable[[bytes], bytes], number: int, records: Path
) -> None:
    records.write_bytes(damage(records.read_bytes()))
    taken: list[bytes] = []
    with pytest.raises(ValueError, match=rf"{records}.: record {number} "):
        taken.extend(record.item() for record in TFRecordDataset(records))
    assert taken == [b"record %d" % each for each in range(number)]


def test_a_file_that_is_none_of_records_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "readme.txt"
    path.write_text("This is not a file of records.")
    with pytest.raises(ValueError, match="Is this a TFRecord file"):
        list(TFRecordDataset(path))


@pytest.mark.parametrize("kind", [TFRecordDataset, TextLineDataset])
def test_a_missing_file_is_seen_when_the_dataset_is_made(kind: type[Dataset], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=rf"{kind.__name__}: there is no file .*gone.*list_files"):
        kind([str(tmp_path / "gone")])


def test_a_file_that_goes_missing_later_is_named(records: Path) -> None:
    dataset = TFRecordDataset(records)
    records.unlink()
    with pytest.raises(FileNotFoundError, match=r"data.tfrecord"):
        list(dataset)


def test_a_pattern_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no file matches .*\*.csv"):
        Dataset.list_files(str(tmp_path / "*.csv"))


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        ([np.zeros(2), np.zeros(3)], r"element 1 has element of shape \(3,\), but \(2,\) was expected.*TensorSpec"),
        ([np.zeros(2), np.zeros((2, 2))], r"element 1 has element of shape \(2, 2\)"),
        ([np.int64(1), np.float64(1.5)], r"element 1 has element of dtype float64, but int64 was expected"),
        ([1, 1.5], r"element 1 has element of dtype float64, but int64 was expected"),
        ([1, "one"], r"element 1 has element of dtype <U3"),
        ([(1, 2), (1, 2, 3)], r"element 1 has the structure \(Ellipsis, Ellipsis, Ellipsis\)"),
        ([{"x": 1}, {"y": 1}], r"element 1 has the structure \{'y': Ellipsis\}"),
        ([(1, {"x": np.zeros(1)}), (1, {"x": np.zeros(2)})], r"element 1 has element\[1\]\['x'\] of shape \(2,\)"),
    ],
    ids=["length", "dims", "dtype", "a fraction", "text", "a longer tuple", "other keys", "deep inside"],
)
def test_a_generator_that_changes_its_elements_is_stopped(elements: list[Any], message: str) -> None:
    dataset = Dataset.from_generator(lambda: iter(elements))
    iterator = iter(dataset)
    next(iterator)
    with pytest.raises(TypeError, match=message):
        next(iterator)


@pytest.mark.parametrize(
    ("element", "message"),
    [
        (np.zeros(3), r"element 0 has element\[0\] of shape \(3,\), but \(2,\) was expected"),
        ((np.zeros(3), 1), r"element 0 has element\[0\] of shape \(3,\)"),
        ((np.zeros(2), np.zeros(1, int)), r"element 0 has element\[1\] of shape \(1,\), but \(\) was expected"),
        ((np.zeros(2, complex), 1), r"element 0 has element\[0\] of dtype complex128, but float32 was expected"),
        (5, r"element 0 is int .*but output_signature has the structure \(Ellipsis, Ellipsis\)"),
        ({"x": 1}, r"element 0 is dict"),
    ],
    ids=["no tuple", "length", "dims", "dtype", "a number", "a dict"],
)
def test_a_generator_that_breaks_its_signature_is_stopped(element: Any, message: str) -> None:
    signature = (TensorSpec((2,), "float32"), TensorSpec((), "int64"))
    dataset = Dataset.from_generator(lambda: iter([element]), output_signature=signature)
    if isinstance(element, np.ndarray):
        message = r"element 0 is ndarray"
    with pytest.raises(TypeError, match=message):
        next(iter(dataset))


@pytest.mark.parametrize(
    ("value", "dtype"), [(True, "int64"), (1.0, "int64"), (255, "uint8"), (3, "float32"), (0.1, "float32")]
)
def test_numbers_become_what_the_signature_says_if_they_can(value: Any, dtype: str) -> None:
    (element,) = Dataset.from_generator(lambda: iter([value]), output_signature=TensorSpec((), dtype))
    assert element.dtype == dtype
    assert element == np.asarray(value, dtype)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(300, "uint8"), (-1, "uint8"), (2**40, "int32"), (0.5, "int64"), (float("nan"), "int64"), (2, "bool")],
)
def test_numbers_that_would_lose_their_value_are_refused(value: Any, dtype: str) -> None:
    dataset = Dataset.from_generator(lambda: iter([value]), output_signature=TensorSpec((), dtype))
    with pytest.raises(TypeError, match=f"but {dtype} was expected"):
        next(iter(dataset))


def test_lists_are_data_where_the_signature_says_so() -> None:
    signature = (TensorSpec((None,), "float32"), TensorSpec((), "int64"))
    dataset = Dataset.from_generator(lambda: iter([([1, 2], 3), ([], 4)]), output_signature=signature)
    assert [(x.tolist(), x.dtype.name, int(y)) for x, y in dataset] == [([1.0, 2.0], "float32", 3), ([], "float32", 4)]


def test_a_generator_instead_of_a_function_is_refused() -> None:
    with pytest.raises(TypeError, match=r"runs once and a dataset many times.*from_generator\(lambda"):
        Dataset.from_generator(iter([1, 2]))  # type: ignore[arg-type]


def test_an_exception_of_a_generator_is_the_users_own() -> None:
    def rows() -> Any:
        yield 1
        raise LookupError("no second row")

    iterator = iter(Dataset.from_generator(rows).batch(2).prefetch(2))
    with pytest.raises(LookupError, match="no second row"):
        next(iterator)
    iterator.close()


def test_an_infinite_dataset_has_no_length_and_cannot_be_reduced() -> None:
    dataset = Dataset.range(3).repeat()
    with pytest.raises(TypeError, match=r"without end.*steps_per_epoch"):
        len(dataset)
    with pytest.raises(ValueError, match=r"never ends.*take\(count\)"):
        dataset.reduce(np.int64(0), lambda total, x: total + x)
    assert len(list(islice(dataset, 10))) == 10


def test_a_dataset_of_unknown_length_says_so() -> None:
    with pytest.raises(TypeError, match=r"not known before it has been read: range\(3\) -> filter"):
        len(Dataset.range(3).filter(lambda x: True))


def test_an_asserted_cardinality_is_checked_while_reading() -> None:
    few = Dataset.range(5).filter(lambda x: x < 3)
    assert len(few.apply(assert_cardinality(3))) == len(list(few.apply(assert_cardinality(3)))) == 3
    with pytest.raises(ValueError, match="the data ended after 3 elements"):
        list(few.apply(assert_cardinality(4)))
    with pytest.raises(ValueError, match=r"more than 2 elements.*take\(2\)"):
        list(few.apply(assert_cardinality(2)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda d: d.batch(0), "batch_size must be at least 1"),
        (lambda d: d.batch(2.0), "whole number"),
        (lambda d: d.shard(2, 2), "index=2"),
        (lambda d: d.window(0), "size must be at least 1"),
        (lambda d: d.rebatch([]), "empty list"),
        (lambda d: d.map(3), "expected a function"),
        (lambda d: d.filter(None), "expected a function"),
        (lambda d: d.concatenate([1]), "expected a Dataset"),
        (lambda d: d.interleave(lambda x: d, cycle_length=0), "cycle_length must be at least 1"),
        (lambda d: d.bucket_by_sequence_length(len, [1], [2]), "one size for each bucket"),
        (lambda d: d.bucket_by_sequence_length(len, [2, 1], [2, 2, 2]), "must rise"),
        (lambda d: d.apply(lambda _: 3), "must return a Dataset"),
        (lambda d: Dataset.zip([d, d]), "expected datasets"),
        (lambda d: Dataset.sample_from_datasets([d], [1, 2]), "1 datasets and 2 weights"),
        (lambda d: Dataset.sample_from_datasets([d], [0]), "at least one above"),
        (lambda d: d.with_options("fast"), "expected unisono.data.Options"),
    ],
)
def test_wrong_arguments_are_refused_when_the_dataset_is_made(make: Callable[[Dataset], Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make(Dataset.range(3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda d: d.filter(lambda x: x), r"filter\(lambda\): the function must return one true or false"),
        (lambda d: d.flat_map(lambda x: x), r"flat_map\(lambda\): the function must return a Dataset"),
        (lambda d: d.map(lambda x: {1, 2}), r"map\(lambda\) returned \{1, 2\}"),
        (lambda d: d.unbatch(), r"unbatch\(\): elements have no rows"),
        (lambda d: d.scan(0, lambda state, x: x), r"scan\(lambda\): the function must return \(new_state, element\)"),
        (lambda d: d.window(2).batch(2), r"batch\(2\): elements are datasets. Use flat_map"),
        (lambda d: d.map(lambda x: np.zeros(int(np.asarray(x)))).batch(3), r"shape \(\d,\) in one row and \(\d,\)"),
        (lambda d: Dataset.choose_from_datasets([d], Dataset.range(3)), "the choice is 1, but there are 1 datasets"),
        (lambda d: d.map(lambda x: (x, x)).unique(), r"unique\(\): an element must be one array"),
    ],
)
def test_wrong_elements_are_refused_by_the_operation_that_met_them(
    make: Callable[[Dataset], Dataset], message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        list(make(Dataset.range(3)))


def test_datasets_that_do_not_fit_together_are_refused_early() -> None:
    numbers = Dataset.range(3)
    with pytest.raises(TypeError, match="different structure"):
        numbers.concatenate(numbers.enumerate())
    with pytest.raises(TypeError, match="different dtypes"):
        numbers.concatenate(numbers.map(lambda x: x / 2))


def test_get_single_element_wants_one() -> None:
    with pytest.raises(ValueError, match="there is none"):
        Dataset.range(0).get_single_element()
    with pytest.raises(ValueError, match="more than one"):
        Dataset.range(2).get_single_element()


@pytest.mark.parametrize("sizes", [(0,), (-1,), (2, -1), (2, 0, -1)])
def test_records_of_a_length_that_cannot_be_are_refused_when_the_dataset_is_made(
    tmp_path: Path, sizes: tuple[int, ...]
) -> None:
    path = tmp_path / "records"
    path.write_bytes(b"aabb")
    for files in (path, []):
        with pytest.raises(ValueError, match=r"FixedLengthRecordDataset: expected record_bytes of at least 1.*got"):
            FixedLengthRecordDataset(files, *sizes)
    with pytest.raises(ValueError, match="compression is 'LZ4'"):
        FixedLengthRecordDataset(path, 2, compression_type="LZ4")
