"""guide/data: tf.data, build input pipelines."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import unisono.tf as tf


def test_basics() -> None:
    """from_tensor_slices, for loops, iterators, reduce, element_spec, zip"""
    dataset = tf.data.Dataset.from_tensor_slices([8, 3, 0, 8, 2, 1])
    assert [elem.numpy() for elem in dataset] == [8, 3, 0, 8, 2, 1]
    assert next(iter(dataset)).numpy() == 8
    assert dataset.reduce(0, lambda state, value: state + value).numpy() == 22
    one = tf.data.Dataset.from_tensor_slices(tf.random.uniform([4, 10], minval=1, maxval=10, dtype=tf.int32))
    assert one.element_spec == tf.TensorSpec(shape=(10,), dtype=tf.int32)
    two = tf.data.Dataset.from_tensor_slices((tf.random.uniform([4]), tf.random.uniform([4, 100], maxval=100)))
    both = tf.data.Dataset.zip((one, two))
    assert both.element_spec[1][1].shape == (100,)
    for a, (b, c) in both.take(1):
        assert (a.shape, b.shape, c.shape) == ((10,), (), (100,))
    assert one.element_spec.dtype is tf.int32 or one.element_spec.dtype == tf.int32


def test_sparse_elements() -> None:
    """a dataset of a SparseTensor, element_spec.value_type"""
    sparse = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
    dataset = tf.data.Dataset.from_tensors(sparse)
    assert dataset.element_spec.value_type is tf.SparseTensor
    (element,) = list(dataset)
    assert tf.sparse.to_dense(element).numpy()[1, 2] == 2


def test_generators() -> None:
    """from_generator with arguments, types, shapes and signatures; ImageDataGenerator-like pairs"""

    def count(stop: int):
        yield from range(int(stop))

    ds = tf.data.Dataset.from_generator(count, args=[25], output_types=tf.int32, output_shapes=())
    batches = [b.numpy() for b in ds.repeat().batch(10).take(3)]
    assert batches[2].tolist() == [20, 21, 22, 23, 24, 0, 1, 2, 3, 4]

    def series():
        for i in itertools.count():
            yield i, np.arange(i % 4 + 1, dtype=np.float32)

    ds = tf.data.Dataset.from_generator(series, output_types=(tf.int32, tf.float32), output_shapes=((), (None,)))
    ids, rows = next(iter(ds.padded_batch(4)))
    assert ids.numpy().tolist() == [0, 1, 2, 3]
    assert rows.shape == (4, 4)
    signed = tf.data.Dataset.from_generator(lambda: iter([1, 2]), output_signature=tf.TensorSpec((), tf.int32))
    assert [int(x) for x in signed] == [1, 2]


def test_files(tmp_path: Path) -> None:
    """TFRecordDataset, TextLineDataset with interleave, skip and filter, list_files, read_file, split paths"""
    for name, lines in (("a.txt", ["head", "1", "2"]), ("b.txt", ["head", "3", "4"])):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    paths = [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    assert [x.numpy() for x in tf.data.TextLineDataset(paths).take(2)] == [b"head", b"1"]
    files = tf.data.Dataset.from_tensor_slices(paths)
    lines = files.interleave(tf.data.TextLineDataset, cycle_length=2)
    assert [x.numpy() for x in lines] == [b"head", b"head", b"1", b"3", b"2", b"4"]
    kept = tf.data.TextLineDataset(paths).skip(1).filter(lambda line: tf.not_equal(tf.strings.substr(line, 0, 1), "h"))
    assert [x.numpy() for x in kept] == [b"1", b"2", b"3", b"4"]
    listed = tf.data.Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False)

    def process_path(file_path: tf.Tensor) -> tuple:
        return tf.io.read_file(file_path), tf.strings.split(file_path, "/")[-1]

    assert [name.numpy() for _, name in listed.map(process_path)] == [b"a.txt", b"b.txt"]
    with tf.io.TFRecordWriter(str(tmp_path / "r.tfrecord")) as writer:
        feature = {"text": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"abc"]))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    raw = next(iter(tf.data.TFRecordDataset(filenames=[str(tmp_path / "r.tfrecord")])))
    assert tf.train.Example.FromString(raw.numpy()).features.feature["text"].bytes_list.value[0] == b"abc"
    parsed = tf.io.parse_single_example(raw, {"text": tf.io.FixedLenFeature([], tf.string)})
    assert parsed["text"].numpy() == b"abc"


def test_csv(tmp_path: Path) -> None:
    """make_csv_dataset with select_columns, CsvDataset, from_tensor_slices of a dict of columns"""
    file = tmp_path / "t.csv"
    file.write_text("survived,sex,fare\n" + "\n".join(f"{i % 2},{'mf'[i % 2]},{i}.5" for i in range(6)) + "\n")
    batches = tf.data.experimental.make_csv_dataset(str(file), batch_size=4, label_name="survived", shuffle=False)
    features, labels = next(iter(batches))
    assert labels.numpy().tolist() == [0, 1, 0, 1]
    assert features["sex"].numpy().tolist() == [b"m", b"f", b"m", b"f"]
    some = tf.data.experimental.make_csv_dataset(
        str(file), batch_size=4, label_name="survived", select_columns=["fare", "survived"], shuffle=False
    )
    assert list(next(iter(some))[0]) == ["fare"]
    typed = tf.data.experimental.CsvDataset(str(file), [tf.int32, tf.string, tf.float32], header=True)
    assert [part.numpy() for part in next(iter(typed))] == [0, b"m", 0.5]
    columns = tf.data.Dataset.from_tensor_slices({"fare": np.arange(3.0), "sex": np.array(["m", "f", "m"])})
    assert next(iter(columns))["sex"].numpy() == b"m"


def test_batches() -> None:
    """batch, drop_remainder and its static shape, padded_batch of sequences"""
    inc, dec = tf.data.Dataset.range(100), tf.data.Dataset.range(0, -100, -1)
    first = next(iter(tf.data.Dataset.zip((inc, dec)).batch(4)))
    assert [part.numpy().tolist() for part in first] == [[0, 1, 2, 3], [0, -1, -2, -3]]
    assert inc.batch(7).element_spec.shape.as_list() == [None]
    assert inc.batch(7, drop_remainder=True).element_spec.shape.as_list() == [7]
    filled = tf.data.Dataset.range(100).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
    second = list(filled.padded_batch(4, padded_shapes=(None,)).take(2))[1]
    assert second.shape == (4, 7)
    assert second.numpy()[0].tolist() == [4, 4, 4, 4, 0, 0, 0]


def test_training_workflows() -> None:
    """repeat before and after batch, epochs by a loop, shuffle with its buffer before and after repeat"""
    ds = tf.data.Dataset.range(10)
    assert [len(b) for b in ds.repeat(3).batch(8)] == [8, 8, 8, 6]
    assert [len(b) for b in ds.batch(8).repeat(2)] == [8, 2, 8, 2]
    counter = tf.data.experimental.Counter()
    shuffled = tf.data.Dataset.zip((counter, ds.shuffle(buffer_size=4).repeat(2)))
    pairs = [(int(n), int(v)) for n, v in shuffled]
    assert sorted(v for n, v in pairs if n < 10) == list(range(10))
    assert len(pairs) == 20


def test_preprocessing() -> None:
    """map, map of py_function with set_shape, parsing, random augmentation"""
    images = tf.data.Dataset.from_tensor_slices(np.random.default_rng(0).random((4, 6, 6, 3)).astype("float32"))

    def rotate(image: np.ndarray) -> np.ndarray:
        return np.rot90(image).copy()

    def tf_rotate(image: tf.Tensor) -> tf.Tensor:
        im_shape = image.shape
        [image] = tf.py_function(rotate, [image], [tf.float32])
        image.set_shape(im_shape)
        return image

    for before, after in zip(images, images.map(tf_rotate), strict=True):
        np.testing.assert_allclose(after.numpy(), np.rot90(before.numpy()))
    assert next(iter(images.map(lambda im: tf.image.resize(im, [3, 3])))).shape == (3, 3, 3)


def test_windows() -> None:
    """windows as batches, as dense predictions, and window with flat_map, shift and stride"""
    range_ds = tf.data.Dataset.range(60)
    batches = range_ds.batch(15, drop_remainder=True)
    features, labels = next(iter(batches.map(lambda batch: (batch[:-5], batch[-5:]))))
    assert labels.numpy().tolist() == [10, 11, 12, 13, 14]
    assert len(features) == 10
    predicted = tf.data.Dataset.zip((batches, batches.skip(1)))
    assert next(iter(predicted))[1].numpy()[0] == 15

    def make_window_dataset(ds: tf.data.Dataset, window_size: int = 5, shift: int = 1, stride: int = 1) -> object:
        windows = ds.window(window_size, shift=shift, stride=stride)
        return windows.flat_map(lambda sub: sub.batch(window_size, drop_remainder=True))

    ds = make_window_dataset(range_ds, window_size=4, shift=5, stride=3)
    assert [x.numpy().tolist() for x in ds.take(2)] == [[0, 3, 6, 9], [5, 8, 11, 14]]
    subs = range_ds.window(5, shift=1)
    assert [x.numpy() for x in next(iter(subs))] == [0, 1, 2, 3, 4]


def test_resampling() -> None:
    """sample_from_datasets, rejection_resample, choose_from_datasets"""
    ones, zeros = tf.data.Dataset.from_tensors(1).repeat(), tf.data.Dataset.from_tensors(0).repeat()
    balanced = tf.data.Dataset.sample_from_datasets([ones, zeros], [0.5, 0.5], seed=1).take(200)
    assert 60 < sum(int(x) for x in balanced) < 140
    rare = tf.data.Dataset.from_tensor_slices(np.array([0] * 9 + [1] * 1)).repeat(60)
    resampled = rare.rejection_resample(class_func=lambda x: tf.cast(x, tf.int32), target_dist=[0.5, 0.5], seed=1)
    drawn = [int(label) for label, _ in resampled.take(80)]
    assert 0.25 < np.mean(drawn) < 0.75
    chosen = tf.data.Dataset.choose_from_datasets([ones, zeros], tf.data.Dataset.from_tensor_slices(np.int64([0, 1])))
    assert [int(x) for x in chosen] == [1, 0]


def test_iterators_in_checkpoints(tmp_path: Path) -> None:
    """an iterator saved and restored with CheckpointManager"""
    range_ds = tf.data.Dataset.range(20)
    iterator = iter(range_ds)
    ckpt = tf.train.Checkpoint(step=tf.Variable(0), iterator=iterator)
    manager = tf.train.CheckpointManager(ckpt, str(tmp_path), max_to_keep=3)
    assert [next(iterator).numpy() for _ in range(5)] == [0, 1, 2, 3, 4]
    save_path = manager.save()
    assert [next(iterator).numpy() for _ in range(3)] == [5, 6, 7]
    ckpt.restore(save_path)
    assert [next(iterator).numpy() for _ in range(3)] == [5, 6, 7]


def test_with_keras() -> None:
    """fit, evaluate and predict of datasets, with steps"""
    x = np.random.default_rng(0).random((32, 4)).astype("float32")
    ds = tf.data.Dataset.from_tensor_slices((x, (x.sum(1) > 2).astype("int32"))).shuffle(32).batch(8)
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(ds.repeat(), epochs=2, steps_per_epoch=3, verbose=0)
    assert len(model.evaluate(ds, verbose=0)) == 2
    assert len(model.evaluate(ds.repeat(), steps=2, verbose=0)) == 2
    assert model.predict(ds.map(lambda a, b: a), steps=2, verbose=0).shape == (16, 2)
    assert model.predict(ds, steps=1, verbose=0).shape == (8, 2)


@pytest.mark.parametrize("parallel", [None, 2, tf.data.AUTOTUNE])
def test_performance(parallel: int | None) -> None:
    """data_performance: prefetch, parallel interleave and map, cache in memory, vectorized map, snapshot of options"""
    source = tf.data.Dataset.range(2).interleave(
        lambda i: tf.data.Dataset.range(4).map(lambda x: x + i * 10), num_parallel_calls=parallel
    )
    ds = source.map(lambda x: x * 2, num_parallel_calls=parallel).cache().batch(4).map(lambda x: x + 1)
    assert sorted(int(v) for b in ds.prefetch(tf.data.AUTOTUNE) for v in b) == [1, 3, 5, 7, 21, 23, 25, 27]
    options = tf.data.Options()
    options.deterministic = False
    assert len(list(ds.with_options(options))) == 2


def test_a_dataset_class_that_times_its_steps() -> None:
    """data_performance: a Dataset made by __new__ with from_generator of several outputs, tensors as parts of keys"""

    class TimeMeasuredDataset(tf.data.Dataset):
        def _generator(instance_idx: int, num_samples: int):  # noqa: N805
            for sample_idx in range(num_samples):
                yield ["Read"], [(0.5, 1.5)], [(instance_idx, 0, sample_idx)]

        def __new__(cls, num_samples: int = 3) -> tf.data.Dataset:
            return tf.data.Dataset.from_generator(
                cls._generator,
                output_types=(tf.string, tf.float32, tf.int32),
                output_shapes=((1,), (1, 2), (1, 3)),
                args=(0, num_samples),
            )

    steps, times, counters = next(iter(TimeMeasuredDataset(2)))
    assert steps.numpy().tolist() == [b"Read"]
    assert counters.shape == (1, 3)
    assert len(list(TimeMeasuredDataset())) == 3
    memory = {tuple(counters.numpy()[0]): times.numpy()}
    assert (0, 0, 0) in memory
