"""Generators: seeded, split, under strategies, in functions, and restored; stateless numbers."""

import os

import numpy as np
import tensorflow as tf

cpus = tf.config.list_physical_devices("CPU")
tf.config.experimental.set_virtual_device_configuration(
    cpus[0],
    [tf.config.experimental.VirtualDeviceConfiguration() for _ in range(int(os.environ["UNISONO_CPU_DEVICES"]))],
)

one, same = tf.random.Generator.from_seed(1), tf.random.Generator.from_seed(1)
assert (one.normal(shape=[2, 3]).numpy() == same.normal(shape=[2, 3]).numpy()).all()
assert (one.normal(shape=[2, 3]).numpy() != tf.random.Generator.from_seed(1).normal(shape=[2, 3]).numpy()).all()
print(tf.random.Generator.from_non_deterministic_state().normal(shape=[]))
same.reset_from_seed(1)
one.reset_from_seed(1)
assert (one.state.read_value().numpy() == same.state.read_value().numpy()).all()
print(tf.random.get_global_generator().normal(shape=[2]))

# Independent streams.
parts = tf.random.Generator.from_seed(7).split(3)
drawn = [part.normal(shape=[4]).numpy() for part in parts]
assert len({tuple(each) for each in drawn}) == 3

# Under a strategy each replica has its own stream.
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    shared = tf.random.Generator.from_seed(1)
    results = strategy.experimental_local_results(strategy.run(lambda: shared.normal(shape=[3])))
    assert len({tuple(each.numpy()) for each in results}) == strategy.num_replicas_in_sync


# A variable that is made once, in a function.
class Drawing(tf.Module):
    def __init__(self):
        self.generator = None

    @tf.function
    def __call__(self):
        if self.generator is None:
            self.generator = tf.random.Generator.from_seed(5)
        return self.generator.normal(shape=[2])


drawing = Drawing()
assert (drawing().numpy() != drawing().numpy()).all()


@tf.function
def draw_with(generator):
    return generator.normal(shape=[2])


by_argument = tf.random.Generator.from_seed(9)
np.testing.assert_array_equal(draw_with(by_argument), tf.random.Generator.from_seed(9).normal(shape=[2]))

# Kept in a checkpoint.
checkpoint = tf.train.Checkpoint(generator=one)
path = checkpoint.write("./kept")
first = one.normal(shape=[2])
checkpoint.restore(path)
np.testing.assert_array_equal(first, one.normal(shape=[2]))
with strategy.scope():
    generator = tf.random.Generator.from_seed(1)
    checkpoint = tf.train.Checkpoint(generator=generator)
    path = checkpoint.write("./kept-by-all")
    before = strategy.experimental_local_results(strategy.run(lambda: generator.normal(shape=[2])))
    checkpoint.restore(path)
    after = strategy.experimental_local_results(strategy.run(lambda: generator.normal(shape=[2])))
for old, new in zip(before, after):
    np.testing.assert_array_equal(old.numpy(), new.numpy())


# Kept in a SavedModel, and read again under another strategy.
class Kept(tf.Module):
    def __init__(self):
        self.generator = tf.random.Generator.from_seed(0)

    @tf.function
    def __call__(self):
        return self.generator.normal([])

    @tf.function
    def state(self):
        return self.generator.state


with strategy.scope():
    kept = Kept()
    strategy.run(kept)
    print("state:", kept.state())
tf.saved_model.save(kept, "./saved")
with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
    imported = tf.saved_model.load("./saved")
np.testing.assert_array_equal(np.ravel(imported.state())[-3:], np.ravel(kept.state())[-3:])

# Without a state.
np.testing.assert_array_equal(
    tf.random.stateless_normal([3], seed=[1, 2]), tf.random.stateless_normal([3], seed=[1, 2])
)
assert (tf.random.stateless_normal([3], seed=[1, 3]).numpy() != tf.random.stateless_normal([3], [1, 2]).numpy()).all()
with tf.device("/CPU:0"):
    stacked = tf.stack([tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])])
assert stacked.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
print("ok")
