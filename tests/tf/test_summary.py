"""`tf.summary`: event files, read back from the files."""

import io
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboardX.proto import event_pb2

import unisono.tf as tf
from unisono.io import RecordFile, decode_image, parse_tensor

# What TensorFlow 2.21 with TensorBoard 2.21 wrote for the calls of the test below, without times.
TENSORFLOW = [
    (1, b'\n\x1f\n\x01sB\n\x08\x01\x12\x00"\x04\x00\x00@@J\x0e\n\t\n\x07scalars\x1a\x01d'),
    (4, b"\n\x1a\n\x01tB\x0b\x08\x07\x12\x00B\x05helloJ\x08\n\x06\n\x04text"),
    (4, b'\n"\n\x02ttB\x12\x08\x07\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02B\x01aB\x01bJ\x08\n\x06\n\x04text'),
    (
        5,
        b"\nZ\n\x01aBF\x08\x07\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02B6"
        b"RIFF.\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00"
        b"\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\n"
        + b"\x00" * 13
        + b"B\x00J\r\n\x0b\n\x05audio\x12\x02\x10\x0b",
    ),
    (6, b'\n\'\n\x01wB"\x08\x02\x12\x04\x12\x02\x08\x03"\x18' + b"\0" * 14 + b"\xf0?" + b"\0" * 7 + b"@"),
    (7, b'\n\x1d\n\x02stB\n\x08\x01\x12\x00"\x04\x00\x00\x80?J\x0b\n\t\n\x07scalars'),
]


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Any]:
    made = tf.summary.create_file_writer(str(tmp_path))
    yield made
    made.close()
    tf.summary.experimental.set_step(None)


def test_the_bytes_are_those_of_tensorflow(tmp_path: Path, writer: Any) -> None:
    with writer.as_default():
        assert tf.summary.scalar("s", 3, step=1, description="d")
        tf.summary.text("t", "hello", step=4)
        tf.summary.text("tt", [["a", "b"]], step=4)
        tf.summary.audio("a", np.zeros((4, 5, 1), "float32"), 8000, step=5, max_outputs=1)
        tf.summary.write("w", np.arange(3.0), step=6)
        tf.summary.experimental.set_step(7)
        assert tf.summary.experimental.get_step() == 7
        tf.summary.scalar("st", 1.0)
    found = [(event.step, event.summary.SerializeToString(deterministic=True)) for event in _events(tmp_path)]
    assert found == TENSORFLOW


def test_histograms_are_those_of_tensorflow(tmp_path: Path, writer: Any) -> None:
    with writer.as_default(step=2):
        tf.summary.histogram("h", [1.0, 2.0, 3.0], buckets=3)
        tf.summary.histogram("equal", tf.constant([2.0, 2.0]), buckets=3)
        tf.summary.histogram("empty", np.zeros(0, "float32"), buckets=3)
        tf.summary.histogram("thirty", tf.Variable(np.arange(60.0)))
        tf.summary.histogram("not finite", np.array([0.0, np.nan, 1.0, np.inf]), buckets=2)
    found = _tensors(tmp_path)
    assert np.allclose(found["h"], [[1, 5 / 3, 1], [5 / 3, 7 / 3, 1], [7 / 3, 3, 1]])
    assert found["equal"].tolist() == [[2, 2, 0], [2, 2, 0], [2, 2, 2]]
    assert found["empty"].tolist() == [[0, 0, 0]] * 3
    assert found["thirty"].shape == (30, 3)
    assert found["thirty"][:, 2].tolist() == [2] * 30
    assert found["not finite"].tolist() == [[0, 0.5, 1], [0.5, 1, 1]]


def test_pictures_are_png_files(tmp_path: Path, writer: Any) -> None:
    pictures = np.linspace(0, 1, 4 * 2 * 3).reshape(4, 2, 3, 1)
    with writer.as_default():
        tf.summary.image("floats", pictures, step=3, max_outputs=2)
        tf.summary.image("bytes", np.full((1, 2, 3, 3), 7, "uint8"), step=3)
    found = _tensors(tmp_path)
    width, height, *files = found["floats"].tolist()
    assert (width, height, len(files)) == (b"3", b"2", 2)
    assert np.array_equal(
        decode_image(files[1]), np.minimum(pictures[1].astype("float32") * 255.5, 255).astype("uint8")
    )
    assert np.array_equal(decode_image(found["bytes"][2]), np.full((2, 3, 3), 7))


def test_sounds_are_wav_files(tmp_path: Path, writer: Any) -> None:
    with writer.as_default():
        tf.summary.audio("a", np.array([[[0.0], [1.0], [-1.0], [2.0]]]), 8000, step=0)
    with wave.open(io.BytesIO(_tensors(tmp_path)["a"][0, 0])) as sound:
        assert (sound.getframerate(), sound.getnchannels()) == (8000, 1)
        assert np.frombuffer(sound.readframes(9), "<i2").tolist() == [0, 32767, -32767, 32767]
    with writer.as_default(), pytest.raises(ValueError, match="expected 'wav' or None"):
        tf.summary.audio("a", np.zeros((1, 1, 1)), 8000, step=0, encoding="mp3")


def test_without_a_writer_nothing_is_written() -> None:
    assert not tf.summary.scalar("x", 1.0, step=0)
    assert not tf.summary.should_record_summaries()


def test_summaries_are_recorded_if_the_condition_is_true(tmp_path: Path, writer: Any) -> None:
    with writer.as_default(step=0):
        assert tf.summary.should_record_summaries()
        with tf.summary.record_if(False):
            assert not tf.summary.should_record_summaries()
            assert not tf.summary.scalar("no", 1.0)
        with tf.summary.record_if(lambda: tf.constant(True)):
            assert tf.summary.scalar("yes", 1.0)
    assert list(_tensors(tmp_path)) == ["yes"]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: tf.summary.scalar("x", [1.0, 2.0], step=0), "expected one number"),
        (lambda: tf.summary.image("x", np.zeros((2, 3, 1)), step=0), "expected a batch of images"),
        (lambda: tf.summary.audio("x", np.zeros(3), 8000, step=0), "expected a batch of clips"),
        (lambda: tf.summary.scalar("x", 1.0), "has no step"),
        (lambda: tf.summary.histogram("x", [1.0], step=0, buckets=0), "buckets is 0"),
    ],
)
def test_what_does_not_fit_is_an_error(writer: Any, call: Any, reason: str) -> None:
    with writer.as_default(), pytest.raises(ValueError, match=reason):
        call()


def test_names_of_scopes_go_before_the_name(tmp_path: Path, writer: Any) -> None:
    with writer.as_default(step=0), tf.keras.name_scope("outer"):
        tf.summary.scalar("x", 1.0)
    assert list(_tensors(tmp_path)) == ["outer/x"]


def test_a_writer_is_closed_once_and_for_all(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(str(tmp_path), max_queue=1, flush_millis=1, filename_suffix=".mine")
    assert isinstance(writer, tf.summary.SummaryWriter)
    writer.init()
    with writer.as_default(step=0):
        tf.summary.scalar("x", 1.0)
        assert list(_tensors(tmp_path)) == ["x"]  # the queue has room for one
        tf.summary.flush()
    writer.close()
    writer.close()
    assert [path.name.endswith(".mine") for path in tmp_path.iterdir()] == [True]
    with pytest.raises(RuntimeError, match="is closed"), writer.as_default():
        pass


def test_a_writer_can_stay_the_default(tmp_path: Path, writer: Any) -> None:
    with tf.summary.create_noop_writer().as_default(step=0):  # so that the test leaves no default behind
        assert tf.summary.scalar("nowhere", 1.0)
        writer.set_as_default(step=3)
        tf.summary.scalar("x", 1.0)
    writer.flush()
    assert [(event.step, event.summary.value[0].tag) for event in _events(tmp_path)] == [(3, "x")]


def test_a_compiled_function_writes_every_time_it_runs(tmp_path: Path, writer: Any) -> None:
    step = tf.Variable(0, trainable=False)

    @tf.function
    def train(x: Any) -> Any:
        tf.summary.scalar("x", x, step=step)
        tf.summary.histogram("h", tf.constant([0.0, 1.0, 3.0]) * x, step=step, buckets=3)
        tf.summary.image("i", np.ones((2, 4, 4, 3), "float32") * x, step=step, max_outputs=1)
        step.assign_add(1)
        return x

    with writer.as_default():
        for value in (0.25, 0.5, 1.0):
            train(np.float32(value))
    found: dict[str, list[Any]] = {}
    for event in _events(tmp_path):
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, parse_tensor(value.tensor.SerializeToString())))
    assert sorted((step, float(x)) for step, x in found["x"]) == [(0, 0.25), (1, 0.5), (2, 1.0)]
    tables = {step: table.tolist() for step, table in found["h"]}
    assert tables[2] == [[0, 1, 1], [1, 2, 1], [2, 3, 1]]
    pictures = {step: decode_image(strings[2])[0, 0, 0] for step, strings in found["i"]}
    assert pictures == {0: 63, 1: 127, 2: 255}


def test_a_writer_inside_of_a_compiled_function_is_used(tmp_path: Path, writer: Any) -> None:
    @tf.function
    def train(x: Any) -> Any:
        with writer.as_default():
            tf.summary.scalar("x", x, step=1)
        return x

    train(np.float32(1))
    train(np.float32(2))
    writer.flush()
    values = [parse_tensor(event.summary.value[0].tensor.SerializeToString()) for event in _events(tmp_path)]
    assert sorted(map(float, values)) == [1.0, 2.0]


def test_a_compiled_function_writes_to_the_writer_that_is_the_default_when_it_runs(tmp_path: Path) -> None:
    @tf.function
    def train(x: Any) -> Any:
        tf.summary.scalar("x", x, step=1)
        return x

    for name in ("first", "second"):
        writer = tf.summary.create_file_writer(str(tmp_path / name))
        with writer.as_default():
            train(np.float32(1))
        writer.close()
    assert list(_tensors(tmp_path / "first")) == list(_tensors(tmp_path / "second")) == ["x"]


def test_of_all_replicas_the_first_one_writes(tmp_path: Path, writer: Any) -> None:
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(4, dtype="float32")).batch(4)

    def step(x: Any) -> Any:
        tf.summary.scalar("part", x.sum(), step=1)
        return x.sum()

    @tf.function
    def train(batch: Any) -> Any:
        total = strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)
        tf.summary.scalar("total", total, step=1)
        return total

    with writer.as_default():
        for batch in strategy.experimental_distribute_dataset(dataset):
            train(batch)
    values = [
        (value.tag, parse_tensor(value.tensor.SerializeToString()))
        for e in _events(tmp_path)
        for value in e.summary.value
    ]
    assert sorted((tag, float(value)) for tag, value in values) == [("part", 1.0), ("total", 6.0)]


@pytest.mark.slow
def test_a_real_tensorboard_reads_the_files(tmp_path: Path, writer: Any) -> None:
    event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with writer.as_default():
        for step in range(3):
            tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
        tf.summary.histogram("weights", np.arange(10.0), step=1)
        tf.summary.image("picture", np.zeros((1, 2, 2, 3)), step=1)
        tf.summary.text("note", "hello", step=1)
    found = event_accumulator.EventAccumulator(str(tmp_path))
    found.Reload()
    assert sorted(found.Tags()["tensors"]) == ["loss", "note", "picture", "weights"]
    assert [event.step for event in found.Tensors("loss")] == [0, 1, 2]
    plugins = {tag: found.SummaryMetadata(tag).plugin_data.plugin_name for tag in found.Tags()["tensors"]}
    assert plugins == {"loss": "scalars", "note": "text", "picture": "images", "weights": "histograms"}


@pytest.mark.slow
def test_a_trace_writes_a_profile_to_the_given_folder(tmp_path: Path) -> None:
    tf.summary.trace_on(graph=True, profiler=True)
    with pytest.raises(RuntimeError, match="already active"):
        tf.summary.trace_on()
    tf.constant([1.0]) + 1
    with pytest.raises(ValueError, match="profiler_outdir"):
        tf.summary.trace_export("trace", step=0)
    tf.summary.trace_export("trace", step=0, profiler_outdir=str(tmp_path / "late"))
    assert list((tmp_path / "late").rglob("*.xplane.pb"))
    tf.summary.trace_on(profiler=True, profiler_outdir=str(tmp_path / "early"))
    tf.summary.trace_off()
    assert list((tmp_path / "early").rglob("*.xplane.pb"))
    with pytest.raises(RuntimeError, match="no trace is active"):
        tf.summary.trace_export("trace")


def _events(folder: Path) -> list[Any]:
    records = [record for path in sorted(folder.glob("*tfevents*")) for record, _ in RecordFile(path).read()]
    first, *events = [event_pb2.Event.FromString(record) for record in records]
    assert first.file_version == "brain.Event:2"
    return events


def _tensors(folder: Path) -> dict[str, Any]:
    values = [value for event in _events(folder) for value in event.summary.value]
    return {value.tag: parse_tensor(value.tensor.SerializeToString()) for value in values}
