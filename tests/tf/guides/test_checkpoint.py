"""guide/checkpoint: Training checkpoints."""

from pathlib import Path

import numpy as np
import pytest

import unisono.tf as tf


class Net(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.l1 = tf.keras.layers.Dense(5)

    def call(self, x: tf.Tensor) -> tf.Tensor:
        return self.l1(x)


def toy_dataset() -> tf.data.Dataset:
    inputs = tf.range(10.0)[:, None]
    labels = inputs * 5.0 + tf.range(5.0)[None, :]
    return tf.data.Dataset.from_tensor_slices({"x": inputs, "y": labels}).repeat().batch(2)


def train_step(net: Net, example: dict, optimizer: tf.keras.optimizers.Optimizer) -> tf.Tensor:
    with tf.GradientTape() as tape:
        output = net(example["x"])
        loss = tf.reduce_mean(tf.abs(output - example["y"]))
    variables = net.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss


def test_weights_alone(tmp_path: Path) -> None:
    """save_weights of a subclassed model"""
    net = Net()
    net(tf.ones([1, 1]))
    net.save_weights(str(tmp_path / "easy.weights.h5"))
    other = Net()
    other(tf.ones([1, 1]))
    other.load_weights(str(tmp_path / "easy.weights.h5"))
    np.testing.assert_array_equal(other.l1.kernel.numpy(), net.l1.kernel.numpy())


def test_training_with_a_manager(tmp_path: Path) -> None:
    """Checkpoint of step, optimizer, net and iterator; CheckpointManager; restore of latest; continuing"""
    for run in range(2):
        opt = tf.keras.optimizers.Adam(0.1)
        net = Net()
        iterator = iter(toy_dataset())
        ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=opt, net=net, iterator=iterator)
        manager = tf.train.CheckpointManager(ckpt, str(tmp_path / "tf_ckpts"), max_to_keep=3)
        ckpt.restore(manager.latest_checkpoint)
        assert bool(manager.latest_checkpoint) == (run > 0)
        for _ in range(12):
            train_step(net, next(iterator), opt)
            ckpt.step.assign_add(1)
            if int(ckpt.step) % 4 == 0:
                manager.save()
    assert int(ckpt.step) == 24
    assert len(manager.checkpoints) == 3


def test_deferred_restoration(tmp_path: Path) -> None:
    """restore before variables exist or are attributes, parts of a model by nested Checkpoints, assert_consumed"""
    net, opt = Net(), tf.keras.optimizers.Adam(0.1)
    train_step(net, next(iter(toy_dataset())), opt)
    path = tf.train.Checkpoint(net=net, optimizer=opt).save(str(tmp_path / "ckpt"))

    fresh = Net()
    status = tf.train.Checkpoint(net=fresh).restore(path)
    fresh(tf.ones([1, 1]))
    np.testing.assert_array_equal(fresh.l1.bias.numpy(), net.l1.bias.numpy())
    status.expect_partial()
    variable = tf.Variable(tf.zeros([5]))
    layer = tf.train.Checkpoint(bias=variable)
    partial = tf.train.Checkpoint(net=tf.train.Checkpoint(l1=layer))
    result = partial.restore(path)
    result.assert_existing_objects_matched()
    np.testing.assert_array_equal(variable.numpy(), net.l1.bias.numpy())
    kernel = tf.Variable(tf.zeros([1, 5]))
    layer.kernel = kernel
    np.testing.assert_array_equal(kernel.numpy(), net.l1.kernel.numpy())


def test_what_a_checkpoint_contains(tmp_path: Path) -> None:
    """load_checkpoint with get_variable_to_shape_map, get_variable_to_dtype_map and get_tensor; list_variables"""
    net, opt = Net(), tf.keras.optimizers.Adam(0.1)
    train_step(net, next(iter(toy_dataset())), opt)
    path = tf.train.Checkpoint(net=net, optimizer=opt).save(str(tmp_path / "ckpt"))
    reader = tf.train.load_checkpoint(str(tmp_path))
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    assert shapes.keys() == dtypes.keys()
    key = "net/l1/kernel/.ATTRIBUTES/VARIABLE_VALUE"
    assert (shapes[key], dtypes[key].name) == ([1, 5], "float32")
    assert key in shapes
    assert (shapes.get(key), shapes.get("net/other")) == ([1, 5], None)
    with pytest.raises(KeyError, match="net/other"):
        shapes["net/other"]
    np.testing.assert_array_equal(reader.get_tensor(key), net.l1.kernel.numpy())
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    assert tf.train.list_variables(path)


def test_lists_and_dicts_are_tracked(tmp_path: Path) -> None:
    """attributes that are lists and dicts of variables, changed after the checkpoint was made"""
    save = tf.train.Checkpoint()
    save.listed = [tf.Variable(1.0)]
    save.listed.append(tf.Variable(2.0))
    save.mapped = {"one": save.listed[0]}
    save.mapped["two"] = save.listed[1]
    path = save.save(str(tmp_path / "list"))
    restore = tf.train.Checkpoint()
    v2 = tf.Variable(0.0)
    restore.mapped = {"two": v2}
    status = restore.restore(path).expect_partial()
    assert v2.numpy() == 2.0
    restore.listed = []
    v1 = tf.Variable(0.0)
    restore.listed.append(v1)
    assert v1.numpy() == 1.0
    status.assert_consumed()
