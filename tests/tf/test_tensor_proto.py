"""`tf.make_tensor_proto`, `tf.make_ndarray`, and event files read back with them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboardX.proto import summary_pb2, tensor_pb2

import unisono.tf as tf


@pytest.mark.parametrize(
    ("value", "options", "dtype"),
    [
        (3, {}, "int32"),
        ([[1.5, 2.5]], {}, "float32"),
        (np.arange(3), {}, "int64"),
        (np.float64(0.5), {}, "float64"),
        (tf.constant([True, False]), {}, "bool"),
        ([1, 2], {"dtype": tf.float16}, "float16"),
        (np.arange(3), {"dtype": "uint8"}, "uint8"),
    ],
)
def test_a_tensor_becomes_a_message_and_comes_back(value: Any, options: Any, dtype: str) -> None:
    message = tf.make_tensor_proto(value, **options)
    found = tf.make_ndarray(message)
    assert isinstance(message, tensor_pb2.TensorProto)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.asarray(value))
    found[...] = 0  # it is a copy


def test_text_comes_back_as_bytes() -> None:
    assert tf.make_ndarray(tf.make_tensor_proto(["a", "é"])).tolist() == [b"a", "é".encode()]
    assert tf.make_ndarray(tf.make_tensor_proto(b"\0a\0")).item() == b"\0a\0"


def test_a_shape_may_be_given() -> None:
    assert tf.make_ndarray(tf.make_tensor_proto([1, 2, 3, 4], shape=[2, 2])).tolist() == [[1, 2], [3, 4]]
    assert tf.make_ndarray(tf.make_tensor_proto(0, tf.float32, shape=(3,))).tolist() == [0.0] * 3
    with pytest.raises(ValueError, match=r"expected values of shape \(3,\), got \(2,\)"):
        tf.make_tensor_proto([1, 2], shape=[3])
    with pytest.raises(TypeError, match=r"expected values of shape \(2, 1\), got \(2,\)"):
        tf.make_tensor_proto([1, 2], shape=[2, 1], verify_shape=True)


def test_a_message_without_a_known_dtype_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"make_ndarray: .*dtype"):
        tf.make_ndarray(tensor_pb2.TensorProto())


def test_an_event_file_is_read_back(tmp_path: Path) -> None:
    with tf.summary.create_file_writer(str(tmp_path)).as_default() as writer:
        tf.summary.scalar("loss", 0.5, step=1)
        tf.summary.scalar("loss", 0.25, step=2)
        writer.close()
    (file,) = tmp_path.iterdir()
    events = list(tf.compat.v1.train.summary_iterator(str(file)))
    assert events[0].file_version == "brain.Event:2"
    assert isinstance(events[1], tf.compat.v1.Event)
    found = [
        (each.step, value.tag, tf.make_ndarray(value.tensor).item()) for each in events for value in each.summary.value
    ]
    assert found == [(1, "loss", 0.5), (2, "loss", 0.25)]
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(tf.errors.DataLossError, match="the file ends after"):
        list(tf.compat.v1.train.summary_iterator(str(file)))
    with pytest.raises(tf.errors.NotFoundError, match="nothing"):
        list(tf.compat.v1.train.summary_iterator(str(tmp_path / "nothing")))


def test_a_summary_of_ones_own_is_written(tmp_path: Path) -> None:
    summary = tf.compat.v1.Summary()
    summary.value.add(
        tag="mine",
        tensor=tf.make_tensor_proto([1, 2]),
        metadata=tf.compat.v1.SummaryMetadata(plugin_data={"plugin_name": "plugin"}),
    )
    raw = summary.SerializeToString()
    assert not tf.summary.experimental.write_raw_pb(raw, step=3)  # there is no writer
    with tf.summary.create_file_writer(str(tmp_path)).as_default() as writer:
        with tf.summary.experimental.summary_scope("around") as (tag, scope):
            assert tf.summary.experimental.write_raw_pb(tf.constant(raw), step=3)
        with pytest.raises(ValueError, match="has no step"):
            tf.summary.experimental.write_raw_pb(raw)
        writer.close()
    assert (tag, scope) == ("around", "around/")
    (file,) = tmp_path.iterdir()
    event = list(tf.compat.v1.train.summary_iterator(str(file)))[-1]
    assert (event.step, event.summary) == (3, summary_pb2.Summary.FromString(raw))


def test_numbers_of_the_tensorboard_callback_are_read_in_both_ways(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    board = tf.keras.callbacks.TensorBoard(str(tmp_path))
    history = model.fit(np.ones((2, 1)), np.ones((2, 1)), verbose=0, callbacks=[board])
    (file,) = (tmp_path / "train").glob("events*")
    events = tf.compat.v1.train.summary_iterator(str(file))
    (value,) = (value for event in events for value in event.summary.value if value.tag == "epoch_loss")
    assert [value.HasField(name) for name in ("simple_value", "tensor", "image")] == [True, True, False]
    assert value.simple_value == tf.make_ndarray(value.tensor) == np.float32(history.history["loss"][0])
