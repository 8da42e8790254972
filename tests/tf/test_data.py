"""`tf.data`: Unisono's datasets with TensorFlow's dtypes and methods."""

import collections
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono
import unisono.tf as tf


def test_pythons_numbers_are_of_32_bits_and_arrays_keep_their_dtype() -> None:
    def dtype(value: object) -> object:
        return tf.data.Dataset.from_tensor_slices(value).element_spec.dtype

    assert dtype([1.0, 2.0]) == tf.float32
    assert dtype([1, 2]) == tf.int32
    assert dtype([True, False]) == tf.bool
    assert dtype(np.array([1.0])) == tf.float64
    assert dtype(["a", "b"]) == tf.string
    assert dtype([np.zeros(2), np.ones(2)]) == tf.float64
    assert dtype(tf.constant([1, 2])) == tf.int32
    assert dtype(tf.Variable([1.0])) == tf.float32
    assert tf.data.Dataset.from_tensors(3.5).element_spec == tf.TensorSpec((), tf.float32)
    mixed = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ([0.5, 1.5], ["x", "y"])}).element_spec
    assert mixed["a"].dtype == tf.int32
    assert [spec.dtype for spec in mixed["b"]] == [tf.float32, tf.string]


@pytest.mark.slow
def test_making_a_dataset_of_numbers_does_not_start_jax() -> None:
    program = """
        import unisono.tf as tf
        from unisono._src.devices import has_jax_started

        tf.data.Dataset.from_tensor_slices([1.0, 2.0]).shuffle(2).batch(2)
        tf.data.Dataset.from_tensors((1, "a"))
        print(tf.executing_eagerly(), has_jax_started())
        """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    assert subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout == "True False\n"


def test_rows_of_different_lengths_are_an_error() -> None:
    with pytest.raises(ValueError, match="pad rows of different lengths"):
        tf.data.Dataset.from_tensor_slices([[1], [2, 3]])


def test_large_numbers_keep_their_bits() -> None:
    assert tf.data.Dataset.from_tensor_slices([1, 2**40]).element_spec.dtype == tf.int64


def test_elements_are_tensors() -> None:
    dataset = tf.data.Dataset.from_tensor_slices(([1.0, 2.0, 3.0], ["a", "b", "c"])).batch(2)
    numbers, text = next(iter(dataset))
    assert isinstance(numbers, tf.Tensor)
    assert numbers.shape.as_list() == [2]
    assert text.numpy().tolist() == [b"a", b"b"]
    assert f"{numbers[0]:.1f}" == "1.0"
    assert isinstance(dataset, tf.data.Dataset)
    assert isinstance(iter(dataset), tf.data.Iterator)
    assert isinstance(unisono.data.Dataset.range(3), tf.data.Dataset)


def test_element_specs_are_printed_as_tensorflow_prints_them() -> None:
    dataset = tf.data.Dataset.from_tensor_slices(np.zeros((4, 28, 28), np.float32)).batch(2)
    assert repr(dataset.element_spec) == "TensorSpec(shape=(None, 28, 28), dtype=tf.float32, name=None)"
    assert dataset.element_spec.shape.as_list() == [None, 28, 28]
    assert isinstance(dataset.element_spec, tf.TypeSpec)
    window = tf.data.Dataset.range(4).window(2)
    assert window.element_spec == tf.data.DatasetSpec(tf.TensorSpec((), tf.int64))


def test_a_tensor_spec_describes_tensors() -> None:
    spec = tf.TensorSpec(shape=[None, 2], dtype=tf.float32, name="x")
    assert spec.is_compatible_with(tf.constant([[1.0, 2.0]]))
    assert not spec.is_compatible_with(tf.constant([1.0, 2.0]))
    assert not spec.is_compatible_with([[1, 2]])
    assert tf.TensorSpec.from_tensor(tf.constant([1, 2])) == tf.TensorSpec([2], tf.int32)
    assert tf.TensorSpec.from_spec(spec, name="y").name == "y"
    assert spec.most_specific_compatible_shape(tf.TensorSpec([3, 2])) == tf.TensorShape([None, 2])
    assert hash(tf.TensorSpec([2])) == hash(tf.TensorSpec((2,)))
    unknown = tf.TensorSpec(None)
    assert unknown.shape.rank is None
    assert unknown.is_compatible_with(tf.ones([2, 3]))
    assert unknown not in (tf.TensorSpec([]), tf.TensorSpec([None]))


def test_as_numpy_iterator_gives_numpy() -> None:
    dataset = tf.data.Dataset.from_tensor_slices({"n": [1, 2], "t": ["a", "b"]})
    iterator = dataset.as_numpy_iterator()
    assert isinstance(iterator, tf.data.NumpyIterator)
    assert iterator.next() == {"n": 1, "t": b"a"}
    (last,) = iterator
    assert type(last["n"]) is np.int32
    assert type(last["t"]) is bytes
    batch = next(dataset.batch(2).as_numpy_iterator())
    assert type(batch["n"]) is np.ndarray


def test_a_cardinality_is_a_number_with_the_methods_of_a_tensor() -> None:
    assert tf.data.Dataset.range(5).cardinality().numpy() == 5
    assert tf.data.Dataset.range(5).repeat().cardinality() == tf.data.INFINITE_CARDINALITY
    filtered = tf.data.Dataset.range(5).filter(lambda x: x > 2)
    assert tf.data.experimental.cardinality(filtered) == tf.data.experimental.UNKNOWN_CARDINALITY
    assert filtered.cardinality() == tf.data.UNKNOWN_CARDINALITY
    assert len(filtered.apply(tf.data.experimental.assert_cardinality(2))) == 2
    assert tf.data.experimental.INFINITE_CARDINALITY == tf.data.INFINITE_CARDINALITY


def test_the_end_of_data_is_an_out_of_range_error_in_get_next_only() -> None:
    iterator = iter(tf.data.Dataset.range(1))
    assert iterator.get_next().numpy() == 0
    with pytest.raises(tf.errors.OutOfRangeError) as ended:
        iterator.get_next()
    assert ended.value.error_code == tf.errors.OUT_OF_RANGE
    assert isinstance(ended.value, tf.errors.OpError)
    with pytest.raises(StopIteration):
        next(iterator)
    assert not iterator.get_next_as_optional().has_value()
    assert not tf.data.experimental.get_next_as_optional(iterator).has_value()


def test_reductions_give_tensors() -> None:
    dataset = tf.data.Dataset.range(5)
    assert dataset.reduce(np.int64(0), lambda x, _: x + 1).numpy() == 5
    counted = dataset.reduce(0, lambda x, _: x + 1)
    assert counted.dtype == tf.int32
    total, number = dataset.reduce((np.int64(0), 0.0), lambda state, x: (state[0] + x, state[1] + 1.0))
    assert (total.numpy(), number.numpy()) == (10, 5.0)
    assert number.dtype == tf.float32
    sums = dataset.scan(np.int64(0), lambda state, x: (state + x, state + x))
    assert list(sums.as_numpy_iterator()) == [0, 1, 3, 6, 10]


def test_functions_see_tensors_on_the_host_and_tracers_in_programs() -> None:
    def shape_of(x: tf.Tensor) -> tf.Tensor:
        return x * x.shape.as_list()[0]

    rows = tf.data.Dataset.from_tensor_slices(np.ones((2, 3), np.float32))
    assert next(rows.map(shape_of).as_numpy_iterator()).tolist() == [3.0] * 3

    words = tf.data.Dataset.from_tensor_slices(["b", "aa"]).map(lambda word: len(word.numpy()))
    assert list(words.as_numpy_iterator()) == [1, 2]
    assert words.element_spec == tf.TensorSpec((), tf.int32)
    pairs = tf.data.Dataset.range(2).map(lambda x: (x, 1.0))
    assert pairs.element_spec[1].dtype == tf.float32
    assert "map(shape_of)" in repr(rows.map(shape_of))
    with pytest.raises(TypeError, match="expected a function"):
        rows.map(3)


def test_functions_may_decide_and_loop_over_tensors() -> None:
    def larger(x: tf.Tensor) -> tf.Tensor:
        if x > 2:  # noqa: SIM108 (the statement is what is tested)
            y = x * 10
        else:
            y = x
        return y

    def summed(x: tf.Tensor) -> tf.Tensor:
        total = tf.constant(0, tf.int64)
        for i in tf.range(x):
            total += tf.cast(i, tf.int64)
        return total

    numbers = tf.data.Dataset.range(5)
    assert list(numbers.map(larger).as_numpy_iterator()) == [0, 1, 2, 30, 40]
    assert list(numbers.map(summed).as_numpy_iterator()) == [0, 0, 1, 3, 6]
    assert "compiled" in numbers.map(larger).explain()


def test_parts_of_elements_are_tensors_and_text_is_compared_as_text() -> None:
    (numbers,) = tf.data.Dataset.range(3).batch(3)
    assert numbers[1].numpy() == 1
    assert [number.numpy() for number in numbers] == [0, 1, 2]
    (words,) = tf.data.Dataset.from_tensor_slices([b"a", b"b"]).batch(2)
    assert (words == "a").numpy().tolist() == [True, False]
    assert (words != "a").numpy().tolist() == [False, True]
    assert words[1] == "b"


def test_datasets_inside_of_datasets_are_of_the_namespace() -> None:
    windows = tf.data.Dataset.range(4).window(2, shift=1, drop_remainder=True)
    assert isinstance(next(iter(windows)).element_spec, tf.TensorSpec)
    flat = windows.flat_map(lambda window: window.batch(2))
    assert [x.tolist() for x in flat.as_numpy_iterator()] == [[0, 1], [1, 2], [2, 3]]
    grouped = tf.data.Dataset.range(4).group_by_window(lambda x: x % 2, lambda key, window: window.batch(2), 2)
    assert [x.tolist() for x in grouped.as_numpy_iterator()] == [[0, 2], [1, 3]]
    by_name = tf.data.Dataset.range(2).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2, num_parallel_calls=tf.data.AUTOTUNE
    )
    assert list(by_name.as_numpy_iterator()) == [0, 1, 0, 1]


def test_sources_give_datasets_of_the_namespace(tmp_path: Path) -> None:
    for text in ("a", "b"):
        (tmp_path / text).write_text(f"{text}1\n{text}2\n")
    files = tf.data.Dataset.list_files(str(tmp_path / "*"), shuffle=False)
    lines = tf.data.TextLineDataset(files)
    assert list(lines.as_numpy_iterator()) == [b"a1", b"a2", b"b1", b"b2"]
    records = tf.data.FixedLengthRecordDataset(str(tmp_path / "a"), 2, header_bytes=1, footer_bytes=1)
    assert list(records.as_numpy_iterator()) == [b"1\n", b"a2"]
    datasets = [tf.data.Dataset.range(2), tf.data.Dataset.range(10, 12)]
    assert len(list(tf.data.Dataset.sample_from_datasets(datasets, seed=1).as_numpy_iterator())) == 4
    chosen = tf.data.Dataset.choose_from_datasets(datasets, tf.data.Dataset.range(2))
    assert list(chosen.as_numpy_iterator()) == [0, 10]
    zipped = tf.data.Dataset.zip((datasets[0], tf.data.Dataset.counter(5, dtype=tf.int32)))
    assert list(zipped.as_numpy_iterator()) == [(0, 5), (1, 6)]
    assert tf.data.Dataset.range(3, output_type=tf.int32).element_spec.dtype == tf.int32
    drawn = tf.data.Dataset.random(seed=4).take(2)
    assert drawn.element_spec == tf.TensorSpec((), tf.int64)
    with tf.io.TFRecordWriter(str(tmp_path / "r")) as writer:
        writer.write(b"one")
    assert list(tf.data.TFRecordDataset([str(tmp_path / "r")]).as_numpy_iterator()) == [b"one"]


def test_saved_and_cached_elements_come_back(tmp_path: Path) -> None:
    dataset = tf.data.Dataset.from_tensor_slices({"n": [1, 2], "t": ["a", "b"]})
    expected = [{"n": 1, "t": b"a"}, {"n": 2, "t": b"b"}]
    dataset.save(str(tmp_path / "saved"))
    assert list(tf.data.Dataset.load(str(tmp_path / "saved")).as_numpy_iterator()) == expected
    tf.data.experimental.save(dataset, str(tmp_path / "again"))
    assert list(tf.data.experimental.load(str(tmp_path / "again")).as_numpy_iterator()) == expected
    cached = dataset.cache(str(tmp_path / "cache"))
    assert list(cached.as_numpy_iterator()) == list(cached.as_numpy_iterator()) == expected
    kept = dataset.apply(tf.data.experimental.snapshot(str(tmp_path / "snapshot")))
    assert list(kept.as_numpy_iterator()) == expected


def test_generators_may_have_dtypes_alone() -> None:
    def rows() -> object:
        yield [1]
        yield [2, 3]

    dataset = tf.data.Dataset.from_generator(rows, tf.int64)
    assert dataset.element_spec == tf.TensorSpec([None], tf.int64)
    assert [x.tolist() for x in dataset.as_numpy_iterator()] == [[1], [2, 3]]
    pairs = tf.data.Dataset.from_generator(
        lambda: iter([([1.0], 2), ([2.0, 3.0], 4)]), output_types=(tf.float32, tf.int32), output_shapes=([None], ())
    )
    assert pairs.element_spec == (tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32))
    partly = tf.data.Dataset.from_generator(
        lambda: iter([{"a": 1, "b": [2]}]), {"a": tf.int32, "b": tf.int32}, {"a": tf.TensorShape(None), "b": [1]}
    )
    assert partly.element_spec == {"a": tf.TensorSpec([], tf.int32), "b": tf.TensorSpec([1], tf.int32)}
    signed = tf.data.Dataset.from_generator(
        lambda n: iter(range(int(n))), args=[3], output_signature=tf.TensorSpec((), tf.int32)
    )
    assert list(signed.as_numpy_iterator()) == [0, 1, 2]
    with pytest.raises(ValueError, match="yields nothing"):
        tf.data.Dataset.from_generator(lambda: iter([]), tf.int64)
    with pytest.raises(TypeError, match="structure differs"):
        tf.data.Dataset.from_generator(lambda: iter([(1, 2, 3)]), (tf.int64, tf.int64))


def test_what_is_not_dense_is_an_error() -> None:
    class Matrix:
        def toarray(self) -> None: ...

    with pytest.raises(TypeError, match="a Matrix cannot be in a dataset"):
        tf.data.Dataset.from_tensor_slices(Matrix())
    dataset = tf.data.Dataset.range(3)
    with pytest.raises(NotImplementedError, match="num_parallel_calls"):
        tf.data.experimental.service.distribute("parallel_epochs", "grpc://a:1")
    with pytest.raises(NotImplementedError, match="not dropped silently"):
        dataset.apply(tf.data.experimental.ignore_errors())


def test_older_functions_do_what_the_methods_do() -> None:
    dataset = tf.data.Dataset.range(4)

    def applied(function: object) -> list[object]:
        return [np.asarray(x).tolist() for x in dataset.apply(function).as_numpy_iterator()]

    assert applied(tf.data.experimental.map_and_batch(lambda x: x * 2, 3)) == [[0, 2, 4], [6]]
    assert sorted(applied(tf.data.experimental.shuffle_and_repeat(4, count=2))) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert applied(tf.data.experimental.enumerate_dataset()) == [[0, 0], [1, 1], [2, 2], [3, 3]]
    assert applied(tf.data.experimental.take_while(lambda x: x < 2)) == [0, 1]
    assert applied(tf.data.experimental.scan(np.int64(0), lambda s, x: (s + x, s))) == [0, 0, 1, 3]
    assert applied(tf.data.experimental.prefetch_to_device("/gpu:0")) == [0, 1, 2, 3]
    assert applied(tf.data.experimental.copy_to_device("/gpu:0")) == [0, 1, 2, 3]
    assert applied(tf.data.experimental.group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2)) == [
        [0, 2],
        [1, 3],
    ]
    doubled = tf.data.experimental.parallel_interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), 2)
    assert applied(doubled) == [0, 1, 0, 1, 2, 3, 2, 3]
    assert list(dataset.batch(2).apply(tf.data.experimental.unbatch()).as_numpy_iterator()) == [0, 1, 2, 3]
    same = tf.data.Dataset.from_tensor_slices([1, 2, 1]).apply(tf.data.experimental.unique())
    assert list(same.as_numpy_iterator()) == [1, 2]
    lengths = tf.data.Dataset.from_generator(lambda: iter([[1], [1, 2], [3]]), tf.int32)
    bucketed = lengths.apply(tf.data.experimental.bucket_by_sequence_length(lambda x: len(x), [2], [2, 1]))
    assert [x.tolist() for x in bucketed.as_numpy_iterator()] == [[[1, 2]], [[1], [3]]]
    assert tf.data.experimental.get_single_element(dataset.take(1)).numpy() == 0
    assert tf.data.experimental.get_structure(dataset) == tf.TensorSpec((), tf.int64)
    assert tf.data.experimental.at(dataset, 2).numpy() == 2
    with pytest.raises(IndexError, match="no element 9"):
        tf.data.experimental.at(dataset, 9)
    assert list(tf.data.experimental.from_list([(1, "a"), (2, "b")]).as_numpy_iterator()) == [(1, b"a"), (2, b"b")]
    assert next(tf.data.experimental.Counter(start=3).as_numpy_iterator()) == 3
    assert tf.data.experimental.RandomDataset(seed=1).cardinality() == tf.data.INFINITE_CARDINALITY
    mixed = tf.data.experimental.sample_from_datasets([dataset, dataset], seed=1)
    assert len(list(mixed)) == 8
    assert len(list(tf.data.experimental.choose_from_datasets([dataset], tf.data.Dataset.range(1)))) == 1
    tf.data.experimental.enable_debug_mode()


def test_options_are_accepted() -> None:
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    options.threading = tf.data.ThreadingOptions()
    options.threading.private_threadpool_size = 4
    options.experimental_optimization = tf.data.experimental.OptimizationOptions()
    options.experimental_optimization.map_parallelization = True
    options.experimental_threading = tf.data.experimental.ThreadingOptions()
    options.autotune = tf.data.experimental.AutotuneOptions()
    options.autotune.autotune_algorithm = tf.data.experimental.AutotuneAlgorithm.MAX_PARALLELISM
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    dataset = tf.data.Dataset.range(2).with_options(options)
    assert dataset.options().experimental_distribute.auto_shard_policy == tf.data.experimental.AutoShardPolicy.DATA
    assert isinstance(options.experimental_distribute, tf.data.experimental.DistributeOptions)
    assert list(dataset.prefetch(tf.data.experimental.AUTOTUNE).as_numpy_iterator()) == [0, 1]


def test_older_iterators_work() -> None:
    dataset = tf.data.Dataset.range(2)
    assert dataset.make_one_shot_iterator().get_next().numpy() == 0
    assert tf.compat.v1.data.make_one_shot_iterator(dataset).get_next().numpy() == 0
    assert tf.compat.v1.data.get_output_types(dataset) == tf.int64
    assert tf.compat.v1.data.get_output_shapes(dataset) == tf.TensorShape([])
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    assert iterator.element_spec == dataset.element_spec
    for _ in range(2):  # epochs
        iterator.initialize()
        assert [int(each) for each in iterator] == [0, 1]
    assert iterator.initializer is None
    assert int(iterator.get_next()) == 0


def test_shapes_of_unknown_rank_are_those_of_the_first_element() -> None:
    signature = {"x": tf.TensorSpec(shape=None, dtype=tf.float32), "n": tf.TensorSpec(shape=(), dtype=tf.int32)}
    dataset = tf.data.Dataset.from_generator(
        lambda: iter([{"x": [1.0], "n": 0}, {"x": [1.0, 2.0], "n": 1}]), output_signature=signature
    )
    assert dataset.element_spec["x"] == tf.TensorSpec([None])
    assert [each["x"].shape for each in dataset] == [(1,), (2,)]
    double = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec(None, tf.float32)])
    assert [double(x).tolist() for x in (1.0, [1.0, 2.0])] == [2.0, [2.0, 4.0]]
    assert double.get_concrete_function()(tf.ones([1])).tolist() == [2.0]


def test_the_arguments_of_a_generator_are_numpy_scalars_and_can_be_keys() -> None:
    calls: dict[Any, int] = {}

    def generate(instance: Any, count: Any) -> Any:
        calls[instance] = calls.get(instance, 0) + 1
        yield from range(count)

    dataset = tf.data.Dataset.range(2).flat_map(
        lambda _: tf.data.Dataset.from_generator(
            generate, output_signature=tf.TensorSpec([], tf.int32), args=(7, tf.constant(3))
        )
    )
    assert [int(each) for each in dataset] == [0, 1, 2, 0, 1, 2]
    assert calls == {7: 2}


def test_operands_that_are_lists_keep_the_dtype_of_an_element() -> None:
    dataset = tf.data.Dataset.from_tensor_slices(np.ones([2, 2], "float32"))
    for element in dataset.map(lambda x: [x - [1, 2], [2, 2] * x]):
        assert [each.dtype for each in element] == [tf.float32] * 2
    row = next(iter(dataset))
    assert [each.dtype for each in (row - [1, 2], [1, 2] / row, row @ [1.5, 2.5])] == [np.float32] * 3
    assert (row > [0, 2]).tolist() == [True, False]


def test_distributed_iterators_begin_again_with_initialize() -> None:
    strategy = tf.distribute.MirroredStrategy(["cpu:0"])
    distributed = strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2))
    iterator = tf.compat.v1.data.make_initializable_iterator(distributed)
    for _ in range(2):
        assert iterator.initialize() == []
        assert [step.tolist() for step in iterator] == [[0, 1], [2, 3]]
    assert iterator.initializer == []
    assert iterator.get_next().tolist() == [0, 1]


def test_csv_files_are_read_by_column(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('age,height,name\n3,0.95,"Ann, the first"\n40,,Bob\n')
    dataset = tf.data.experimental.make_csv_dataset(
        str(path), batch_size=2, label_name="age", num_epochs=1, shuffle=False
    )
    features, labels = next(dataset.as_numpy_iterator())
    assert labels.tolist() == [3, 40]
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(features["height"], np.float32([0.95, 0.0]))
    assert features["name"].tolist() == [b"Ann, the first", b"Bob"]
    rows = tf.data.experimental.CsvDataset(str(path), [tf.int64, 1.5], header=True, select_cols=[0, 1])
    assert list(rows.as_numpy_iterator()) == [(3, np.float32(0.95)), (40, np.float32(1.5))]
    with pytest.raises(ValueError, match="field 1 is empty"):
        tf.data.experimental.CsvDataset(str(path), [tf.int64, tf.float32], header=True, select_cols=[0, 1])
    with pytest.raises(ValueError, match=r"'weight' is not a column\. Expected one of: age, height, name"):
        tf.data.experimental.make_csv_dataset(str(path), 2, label_name="weight")


def test_examples_are_read_and_parsed(tmp_path: Path) -> None:
    path = str(tmp_path / "x.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for number in range(4):
            feature = {"x": tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    features = {"x": unisono.io.FixedLenFeature((), "int64")}
    dataset = tf.data.experimental.make_batched_features_dataset(path, 2, features, num_epochs=1, shuffle=False)
    assert [batch["x"].tolist() for batch in dataset.as_numpy_iterator()] == [[0, 1], [2, 3]]
    parsed = tf.data.TFRecordDataset(path).batch(4).apply(tf.data.experimental.parse_example_dataset(features))
    assert next(parsed.as_numpy_iterator())["x"].tolist() == [0, 1, 2, 3]


def test_an_optional_has_a_value_or_none() -> None:
    some = tf.experimental.Optional.from_value([1, 2])
    assert isinstance(some, tf.experimental.Optional)
    assert some.get_value().numpy().tolist() == [1, 2]
    assert not tf.experimental.Optional.empty(tf.TensorSpec([])).has_value()
    assert isinstance(iter(tf.data.Dataset.range(0)).get_next_as_optional(), tf.data.experimental.Optional)


def test_models_are_fitted_with_datasets_of_the_namespace() -> None:
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="zeros")])
        model.compile("sgd", "mse")
    x = np.arange(8.0, dtype=np.float32)[:, None]
    dataset = tf.data.Dataset.from_tensor_slices((x, 2 * x)).map(lambda a, b: (a / 8, b / 8)).shuffle(8).batch(4)
    history = model.fit(dataset.prefetch(tf.data.AUTOTUNE), epochs=2, verbose=0).history["loss"]
    assert history[1] < history[0]
    assert model.predict(dataset.map(lambda a, b: a), verbose=0).shape == (8, 1)


def test_a_namedtuple_stays_one() -> None:
    pair = collections.namedtuple("Pair", "a b")
    (element,) = tf.data.Dataset.from_tensors(pair([1], 2.0))
    assert element.a.dtype == tf.int32
    assert element.b.dtype == tf.float32


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_a_dataset_of_byte_strings_becomes_a_file_of_records(tmp_path: Path, compression: str | None) -> None:
    path = str(tmp_path / "records")
    dataset = tf.data.Dataset.from_tensor_slices([[1.0, 2.0], [3.0, 4.0]]).map(tf.io.serialize_tensor)
    tf.data.experimental.TFRecordWriter(path, compression).write(dataset)
    records = tf.data.TFRecordDataset(path, compression or "")
    found = [tf.io.parse_tensor(record, tf.float32).numpy().tolist() for record in records]
    assert found == [[1.0, 2.0], [3.0, 4.0]]


def test_a_file_of_records_is_written_from_scalar_byte_strings(tmp_path: Path) -> None:
    writer = tf.data.experimental.TFRecordWriter(str(tmp_path / "records"))
    with pytest.raises(TypeError, match=r"(?s)expected a dataset of byte strings, got bytes.*tf\.io\.TFRecordWriter"):
        writer.write(b"record")
    with pytest.raises(TypeError, match="expected text or bytes, got int64"):
        writer.write(tf.data.Dataset.range(2))


def test_a_list_that_a_function_returns_is_a_tuple_and_one_inside_is_a_tensor() -> None:
    numbers = tf.data.Dataset.from_tensor_slices([1, 2])
    pairs = numbers.map(lambda x: tf.py_function(lambda y: (tf.cast(y, tf.float32), y), [x], [tf.float32, tf.int32]))
    assert [float(a) + int(b) for a, b in pairs.map(lambda a, b: (a, b))] == [2.0, 4.0]
    boxes = numbers.map(lambda x: {"a": x, "box": [x, x, x, x]}).batch(2)
    assert boxes.element_spec["box"] == tf.TensorSpec([None, 4], tf.int32)
    target = numbers.map(lambda x: (x, [tf.cast(x, tf.float32), 2.5])).element_spec[1]
    assert target == tf.TensorSpec([2], tf.float32)
    words = numbers.map(lambda x: (x, ["a", tf.strings.as_string(x)]))
    assert next(iter(words))[1].numpy().tolist() == [b"a", b"1"]
    assert numbers.map(lambda x: (x, [[x, 1], [2, x]])).element_spec[1].shape == (2, 2)
    lengths = numbers.map(lambda x: {"rows": [np.arange(2), np.arange(3)]})
    assert [row.numpy().tolist() for row in next(iter(lengths))["rows"]] == [[0, 1], [0, 1, 2]]


def test_elements_are_read_once_to_find_the_dtypes_of_a_state() -> None:
    numbers = iter(range(1, 5))
    once = tf.data.Dataset.from_generator(lambda: numbers, output_signature=tf.TensorSpec((), tf.int64))
    total = once.reduce(tf.constant(0, tf.int64), lambda total, x: total + x)
    assert (int(total), total.dtype) == (10, tf.int64)


def test_a_state_of_64_bits_can_be_a_constant() -> None:
    total = tf.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda total, x: total + x)
    assert (int(total), total.dtype) == (10, tf.int64)
    pair = tf.data.Dataset.range(3).reduce((tf.constant(0), 0.0), lambda state, _: (state[0] + 1, state[1] + 2.0))
    assert [each.dtype.name for each in pair] == ["int32", "float32"]


def test_the_function_of_reduce_is_called_once_for_each_element() -> None:
    seen = tf.Variable(0)

    def add(total: Any, x: Any) -> Any:
        seen.assign_add(1)
        return total + x

    total = tf.data.Dataset.range(3).reduce(tf.constant(0, tf.int64), add)
    assert (int(total), total.dtype, int(seen)) == (3, tf.int64, 3)
