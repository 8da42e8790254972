"""`tf.train`: checkpoints and what is in them, clusters, averages, and the messages of TFRecord files."""

import threading
import time
import warnings
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono.tf as tf
from unisono.checkpoint import CheckpointManager, CheckpointMismatch

# What TensorFlow 2.21 gave for the messages below, with SerializeToString(deterministic=True) and str().
EXAMPLE_BYTES = (
    "0a3f0a120a0161120d0a0b0a037261770a04746578740a110a0162120c120a0a080000003f000000c00a160a01631211"
    "1a0f0a0d01ffffffffffffffffff01ac02"
)
SEQUENCE_EXAMPLE_BYTES = "0a0c0a0a0a016e12051a030a0102121d0a1b0a017712160a060a040a0268690a0c120a0a080000c03f000000c0"
SEQUENCE_EXAMPLE_TEXT = """context {
  feature {
    key: "n"
    value {
      int64_list {
        value: 2
      }
    }
  }
}
feature_lists {
  feature_list {
    key: "w"
    value {
      feature {
        bytes_list {
          value: "hi"
        }
      }
      feature {
        float_list {
          value: 1.5
          value: -2
        }
      }
    }
  }
}
"""


class Dense(tf.Module):
    def __init__(self, size: int) -> None:
        super().__init__(name="dense")
        self.w = tf.Variable(np.ones((2, size), np.float32))
        self.size = size
        self.layers = [keras.layers.Dense(1)]
        self.layers[0].build((None, size))


def test_checkpoints_keep_models_modules_and_numbers(tmp_path: Path) -> None:
    module, step = Dense(3), tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(module=module, step=step)
    step.assign_add(7)
    path = checkpoint.save(str(tmp_path / "ckpt"), options=tf.train.CheckpointOptions(experimental_io_device="/cpu:0"))
    module.w.assign(np.zeros((2, 3)))
    step.assign(0)
    checkpoint.restore(tf.train.latest_checkpoint(str(tmp_path))).assert_consumed()
    assert step.numpy() == 7
    assert module.w.numpy().tolist() == [[1.0] * 3] * 2
    assert tf.train.latest_checkpoint(str(tmp_path)) == path


def test_a_manager_keeps_the_newest_checkpoints_and_resumes(tmp_path: Path) -> None:
    step = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(step=step)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    for number in range(3):
        step.assign(number)
        manager.save()
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert [Path(each).name for each in state.all_model_checkpoint_paths] == ["ckpt-2", "ckpt-3"]
    assert state.model_checkpoint_path == manager.latest_checkpoint
    again = tf.Variable(0)
    restored = tf.train.CheckpointManager(tf.train.Checkpoint(step=again), str(tmp_path), 2).restore_or_initialize()
    assert (again.numpy(), restored) == (2, manager.latest_checkpoint)
    assert tf.train.get_checkpoint_state(str(tmp_path / "nothing")) is None


class Net(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.l1 = tf.keras.layers.Dense(2)

    def call(self, x: Any) -> Any:
        return self.l1(x)


@pytest.fixture(scope="module")
def saved_net(tmp_path_factory: pytest.TempPathFactory) -> tuple[Net, str]:
    net = Net()
    net(tf.ones([1, 1]))
    folder = tmp_path_factory.mktemp("net")
    return net, tf.train.Checkpoint(net=net, step=tf.Variable(3)).save(str(folder / "ckpt"))


def test_the_guides_partial_restore(saved_net: tuple[Net, str]) -> None:
    bias, kernel = tf.Variable(tf.ones([2])), tf.Variable(tf.zeros([1, 2]))
    layer = tf.train.Checkpoint(bias=bias, kernel=kernel)
    status = tf.train.Checkpoint(net=tf.train.Checkpoint(l1=layer)).restore(saved_net[1])
    status.assert_existing_objects_matched().expect_partial()
    assert bias.numpy().tolist() == [0.0, 0.0]
    assert kernel.numpy().tolist() == saved_net[0].l1.kernel.numpy().tolist()


def test_restoring_raises_nothing_and_the_status_can_be_checked(saved_net: tuple[Net, str]) -> None:
    step, other = tf.Variable(0), tf.Variable(1.0)
    status = tf.train.Checkpoint(step=step, other=other).restore(saved_net[1])
    assert (step.numpy(), other.numpy()) == (3, 1.0)
    status.assert_nontrivial_match()
    with pytest.raises(AssertionError, match="has no value for: other"):
        status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="has no value for: other"):
        status.assert_consumed()
    status = tf.train.Checkpoint(step=step).restore(saved_net[1]).assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="belong to no object: net/dense"):
        status.assert_consumed()


@pytest.mark.parametrize("method", ["restore", "read"])
def test_what_is_left_over_is_a_warning_unless_it_is_expected(saved_net: tuple[Net, str], method: str) -> None:
    restore = getattr(tf.train.Checkpoint(step=tf.Variable(0), other=tf.Variable(1.0)), method)
    with pytest.warns(UserWarning, match=r"(?s)has no value for: other\..*object: net/dense/.*expect_partial\(\)"):
        del [restore(saved_net[1])][0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del [restore(saved_net[1]).expect_partial()][0]
        del [restore(saved_net[1], strict=False)][0]
        del [tf.train.Checkpoint().restore(None)][0]
    with pytest.raises(CheckpointMismatch, match="without a value in it: other"):
        restore(saved_net[1], strict=True)


def test_a_value_of_another_shape_is_an_error_at_once(saved_net: tuple[Net, str]) -> None:
    with pytest.raises(ValueError, match=r"step has the shape \(2,\) here and \(\)"):
        tf.train.Checkpoint(step=tf.Variable([0, 0])).restore(saved_net[1])


def test_a_manager_lists_at_most_max_to_keep_checkpoints_after_a_restart(tmp_path: Path) -> None:
    def made() -> tf.train.CheckpointManager:
        return tf.train.CheckpointManager(tf.train.Checkpoint(step=tf.Variable(0)), str(tmp_path), max_to_keep=2)

    first, again = made(), made()
    for _ in range(3):
        first.save()
    assert again.restore_or_initialize() == str(tmp_path / "ckpt-3")
    again.save()
    assert [Path(each).name for each in again.checkpoints] == ["ckpt-3", "ckpt-4"]
    again.save()
    assert [Path(each).name for each in again.checkpoints] == ["ckpt-4", "ckpt-5"]


def test_the_folder_of_a_manager_exists_before_and_after_each_save(tmp_path: Path) -> None:
    folder = tmp_path / "worker" / "1"
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=tf.Variable(0)), str(folder), max_to_keep=1)
    assert isinstance(manager, CheckpointManager)
    assert folder.is_dir()
    folder.rmdir()
    assert manager.save() == str(folder / "ckpt-1")


def test_tensors_are_read_by_tensorflows_names_too(saved_net: tuple[Net, str]) -> None:
    reader = tf.train.load_checkpoint(saved_net[1])
    for name in ("net/dense/kernel", "net/l1/kernel", "net/l1/kernel/.ATTRIBUTES/VARIABLE_VALUE"):
        assert reader.get_tensor(name).tolist() == saved_net[0].l1.kernel.numpy().tolist()
    assert reader.get_tensor("step/.ATTRIBUTES/VARIABLE_VALUE") == 3
    assert not reader.has_tensor("net/l2/kernel/.ATTRIBUTES/VARIABLE_VALUE")


def test_a_checkpoint_is_read_without_its_objects(tmp_path: Path) -> None:
    path = tf.train.Checkpoint(module=Dense(3)).write(str(tmp_path / "one"))
    reader = tf.train.load_checkpoint(path)
    assert reader.get_variable_to_shape_map()["module/w"] == [2, 3]
    assert reader.get_variable_to_dtype_map()["module/w"] == tf.float32
    assert reader.has_tensor("module/w")
    assert not reader.has_tensor("w")
    assert reader.get_tensor("module/w").tolist() == [[1.0] * 3] * 2
    assert "module/w (float32) [2, 3]" in reader.debug_string()
    names = [name for name, _ in tf.train.list_variables(str(tmp_path))]
    assert names == ["module/layers/0/bias", "module/layers/0/kernel", "module/w"]
    assert tf.train.load_variable(path, "module/w").shape == (2, 3)
    with pytest.raises(tf.errors.NotFoundError, match="There is no 'x' in the checkpoint"):
        reader.get_tensor("x")
    with pytest.raises(tf.errors.NotFoundError, match="neither a checkpoint nor a folder"):
        tf.train.load_checkpoint(str(tmp_path / "two"))


def test_checkpoints_are_waited_for(tmp_path: Path) -> None:
    checkpoint = tf.train.Checkpoint(step=tf.Variable(0))

    def save() -> None:
        time.sleep(0.05)
        checkpoint.write(str(tmp_path / "ckpt-1"))

    writer = threading.Thread(target=save)
    writer.start()
    found = next(tf.train.checkpoints_iterator(str(tmp_path), timeout=10))
    writer.join()
    assert Path(found).name == "ckpt-1"
    assert list(tf.train.checkpoints_iterator(str(tmp_path / "none"), timeout=0)) == []


def test_an_object_of_pythons_is_stored_as_text_or_bytes(tmp_path: Path) -> None:
    class Words(tf.train.experimental.PythonState):
        def __init__(self, *words: bytes) -> None:
            self.words = list(words)

        def serialize(self) -> bytes:
            return b" ".join(self.words)

        def deserialize(self, string_value: bytes) -> None:
            self.words = string_value.split()

    path = tf.train.Checkpoint(words=Words(b"a", b"\xff")).write(str(tmp_path / "w"))
    words = Words()
    tf.train.Checkpoint(words=words).read(path)
    assert words.words == [b"a", b"\xff"]
    assert tf.train.experimental.CheckpointOptions is tf.train.CheckpointOptions
    with pytest.raises(NotImplementedError, match="mixed_precision"):
        tf.train.experimental.enable_mixed_precision_graph_rewrite(None)


def test_averages_follow_their_variables_as_in_tensorflow() -> None:
    variable = tf.Variable(1.0)
    averages = tf.train.ExponentialMovingAverage(0.9)
    averages.apply([variable])
    variable.assign(2.0)
    averages.apply([variable])
    assert averages.average(variable).numpy() == pytest.approx(1.1)  # TensorFlow: 1.100000023841858
    assert averages.average(tf.Variable(1.0)) is None
    assert averages.average_name(variable) == f"{variable.name}/ExponentialMovingAverage"
    assert averages.variables_to_restore() == {averages.average_name(variable): variable}
    assert [each.trainable for each in averages.variables] == [False]

    early = tf.train.ExponentialMovingAverage(0.9, num_updates=1)
    variable.assign(1.0)
    early.apply([variable])
    variable.assign(2.0)
    early.apply([variable])
    assert early.average(variable).numpy() == pytest.approx(1.8181817531585693)  # TensorFlow's
    with pytest.raises(TypeError, match="expected variables"):
        early.apply([3.0])
    with pytest.raises(NotImplementedError, match="zero_debias"):
        tf.train.ExponentialMovingAverage(0.9, zero_debias=True)


def test_clusters_become_messages_and_come_back() -> None:
    spec = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "chief": ["c:3"]})
    message = spec.as_cluster_def()
    assert message == tf.train.ClusterDef(
        job=[
            tf.train.JobDef(name="chief", tasks={0: "c:3"}),
            tf.train.JobDef(name="worker", tasks={0: "a:1", 1: "b:2"}),
        ]
    )
    assert tf.train.ClusterSpec(message).as_dict() == spec.as_dict()
    server = tf.train.ServerDef(cluster=message, job_name="worker", task_index=1, protocol="grpc")
    assert server.cluster.job[1].tasks[1] == "b:2"


def test_names_of_graphs_raise() -> None:
    with pytest.raises(NotImplementedError, match=r"threading\.Event"):
        tf.train.Coordinator()
    with pytest.raises(NotImplementedError, match="load_checkpoint"):
        tf.train.CheckpointView("x")
    with pytest.raises(NotImplementedError, match="Checkpoint"):
        tf.train.TrackableView(None)


def test_examples_have_the_bytes_that_tensorflow_gives() -> None:
    example = tf.train.Example(
        features=tf.train.Features(
            feature={
                "a": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"raw", b"text"])),
                "b": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, -2.0])),
                "c": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, -1, 300])),
            }
        )
    )
    assert example.SerializeToString(deterministic=True).hex() == EXAMPLE_BYTES
    assert tf.train.Example.FromString(bytes.fromhex(EXAMPLE_BYTES)) == example


def test_sequence_examples_have_the_bytes_that_tensorflow_gives() -> None:
    example = tf.train.SequenceExample(
        context=tf.train.Features(feature={"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[2]))}),
        feature_lists=tf.train.FeatureLists(
            feature_list={
                "w": tf.train.FeatureList(
                    feature=[
                        tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"hi"])),
                        tf.train.Feature(float_list=tf.train.FloatList(value=[1.5, -2])),
                    ]
                )
            }
        ),
    )
    assert example.SerializeToString().hex() == SEQUENCE_EXAMPLE_BYTES
    assert tf.train.SequenceExample.FromString(bytes.fromhex(SEQUENCE_EXAMPLE_BYTES)) == example
    assert str(example) == SEQUENCE_EXAMPLE_TEXT


def test_messages_have_protobufs_methods() -> None:
    example = tf.train.Example()
    assert not example.HasField("features")
    example.features.feature["x"].int64_list.value.extend([1, 2])
    example.features.feature["y"].bytes_list.value.append(b"\n\xff")
    assert example.features.feature["x"].WhichOneof("kind") == "int64_list"
    assert str(example.features.feature["y"]) == 'bytes_list {\n  value: "\\n\\377"\n}\n'
    again = tf.train.Example()
    assert again.ParseFromString(example.SerializeToString()) == example.ByteSize()
    assert again == example
    assert example.HasField("features")
    other = tf.train.Example()
    other.features.feature["z"].float_list.value.append(0.1)
    again.MergeFromString(other.SerializeToString())
    assert sorted(again.features.feature) == ["x", "y", "z"]
    other.MergeFrom(example)
    assert other == again
    other.CopyFrom(example)
    assert other == example
    other.Clear()
    assert not other.features.feature
    feature = tf.train.Feature(float_list=tf.train.FloatList(value=[2.5]))
    assert tf.train.Feature.FromString(feature.SerializeToString()).float_list.value == [2.5]
    assert tf.train.FloatList.FromString(feature.float_list.SerializeToString()).value == [2.5]
    features = tf.train.Features(feature={"f": feature})
    assert tf.train.Features.FromString(features.SerializeToString()) == features
    lists = tf.train.FeatureLists()
    lists.feature_list["w"].feature.append(feature)
    assert tf.train.FeatureLists.FromString(lists.SerializeToString()) == lists
    with pytest.raises(ValueError, match=r'has no "label" field'):
        example.HasField("label")
    with pytest.raises(TypeError, match="Expected feature: repeated"):
        tf.train.FeatureList(feature=[3])
    with pytest.raises(ValueError, match="no SequenceExample"):
        tf.train.SequenceExample.FromString(b"\x0a\x09\x01")
