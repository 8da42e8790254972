"""The overview: every strategy once, `fit` on datasets and arrays, and a loop with a regularization loss."""

import json
import os

import numpy as np
import tensorflow as tf

# Strategies, as they are made.
reducing = tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())
central = tf.distribute.experimental.CentralStorageStrategy()
alone = tf.distribute.OneDeviceStrategy(device="/cpu:0")
default = tf.distribute.get_strategy()
over_nccl = tf.distribute.experimental.CommunicationOptions(
    implementation=tf.distribute.experimental.CommunicationImplementation.NCCL
)
assert reducing.num_replicas_in_sync == len(tf.config.list_logical_devices("CPU"))
assert alone.num_replicas_in_sync == default.num_replicas_in_sync == 1

# A script that wants GPUs if there are any.
if tf.config.list_physical_devices("GPU"):
    chosen = tf.distribute.MirroredStrategy()
else:
    chosen = tf.distribute.get_strategy()
with chosen.scope():
    three = tf.Variable(3.0)
assert three.numpy() == 3

# What there is no machine for says so.
for attempt, word in [
    (lambda: tf.distribute.MirroredStrategy(devices=["/gpu:0", "/gpu:1"]), "gpu"),
    (lambda: tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu"), "tpu"),
    (
        lambda: tf.distribute.experimental.ParameterServerStrategy(
            tf.distribute.cluster_resolver.TFConfigClusterResolver(), variable_partitioner=None
        ),
        '"ps"',
    ),
    (lambda: tf.distribute.experimental.coordinator.ClusterCoordinator(alone), "parameterserverstrategy"),
]:
    try:
        attempt()
    except (ValueError, RuntimeError, NotImplementedError) as error:
        assert word in str(error).lower(), error
    else:
        raise AssertionError(word)

# Keras.
mirrored = tf.distribute.MirroredStrategy()
with mirrored.scope():
    line = tf.keras.Sequential(
        [tf.keras.layers.Dense(1, input_shape=(1,), kernel_regularizer=tf.keras.regularizers.L2(1e-4))]
    )
    line.compile(loss="mse", optimizer="sgd")

pairs = tf.data.Dataset.from_tensors(([2.0], [3.0])).repeat(100).batch(10)
history = line.fit(pairs, epochs=2, verbose=2).history
assert line.evaluate(pairs, verbose=0) < history["loss"][1] < history["loss"][0]

ones, threes = np.ones((100, 1)), np.full((100, 1), 3.0)
line.fit(ones, threes, epochs=2, batch_size=10, verbose=2)

PER_REPLICA = 5
global_batch_size = PER_REPLICA * mirrored.num_replicas_in_sync
learning_rate = {5: 0.05, 10: 0.1, 15: 0.15, 20: 0.2}[global_batch_size]

# A loop.
with mirrored.scope():
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(1, input_shape=(1,), kernel_regularizer=tf.keras.regularizers.L2(1e-4))]
    )
    optimizer = tf.keras.optimizers.SGD(learning_rate)

dataset = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(200).batch(global_batch_size)
dist_dataset = mirrored.experimental_distribute_dataset(dataset)
per_example = tf.keras.losses.BinaryCrossentropy(from_logits=True, reduction=tf.keras.losses.Reduction.NONE)


def train_step(inputs):
    features, labels = inputs
    with tf.GradientTape() as tape:
        predictions = model(features, training=True)
        loss = tf.nn.compute_average_loss(per_example(labels, predictions))
        if model.losses:
            loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def distributed_train_step(inputs):
    losses = mirrored.run(train_step, args=(inputs,))
    return mirrored.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


curve = [float(distributed_train_step(inputs)) for inputs in dist_dataset]
assert len(curve) == 200 // global_batch_size
assert curve[-1] < curve[0], curve

iterator = iter(dist_dataset)
for _ in range(5):
    print(distributed_train_step(next(iterator)))
assert float(optimizer.iterations) == len(curve) + 5

# Several workers, of which this is the only one.
os.environ["TF_CONFIG"] = json.dumps(
    {"cluster": {"worker": ["localhost:12345"]}, "task": {"type": "worker", "index": 0}}
)
workers = tf.distribute.MultiWorkerMirroredStrategy(communication_options=over_nccl)
assert workers.num_replicas_in_sync == mirrored.num_replicas_in_sync
print("ok")
