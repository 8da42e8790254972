"""A script for tf.distribute, as people wrote them for TensorFlow 2, and not changed since.

    unisono tf-check examples/tf_distribute_script.py              # which names work, without running it
    unisono run --as-tensorflow examples/tf_distribute_script.py
    UNISONO_CPU_DEVICES=2 unisono run --as-tensorflow examples/tf_distribute_script.py

There is no TensorFlow in this environment: `import tensorflow` imports `unisono.tf`.

Output on two CPU devices:

    Number of devices: 2
    Epoch 1, loss 0.4028, test accuracy 94.87%
    Epoch 2, loss 0.1430, test accuracy 96.76%
    Restored ckpt-2
"""

import os
import tempfile

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
print("Number of devices: {}".format(strategy.num_replicas_in_sync))

BATCH_SIZE_PER_REPLICA = 64
GLOBAL_BATCH_SIZE = BATCH_SIZE_PER_REPLICA * strategy.num_replicas_in_sync
EPOCHS = 2

(train_images, train_labels), (test_images, test_labels) = tf.keras.datasets.mnist.load_data()
train_images = train_images[..., tf.newaxis] / 255.0
test_images = test_images[..., tf.newaxis] / 255.0

train_dataset = tf.data.Dataset.from_tensor_slices((train_images, train_labels)).shuffle(60000).batch(GLOBAL_BATCH_SIZE)
test_dataset = tf.data.Dataset.from_tensor_slices((test_images, test_labels)).batch(GLOBAL_BATCH_SIZE)
train_dataset = strategy.experimental_distribute_dataset(train_dataset)
test_dataset = strategy.experimental_distribute_dataset(test_dataset)

with strategy.scope():
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(10),
    ])
    optimizer = tf.keras.optimizers.Adam()
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction=tf.keras.losses.Reduction.NONE)
    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    checkpoint = tf.train.Checkpoint(optimizer=optimizer, model=model)


def train_step(inputs):
    images, labels = inputs
    with tf.GradientTape() as tape:
        per_example_loss = loss_object(labels, model(images, training=True))
        loss = tf.nn.compute_average_loss(per_example_loss, global_batch_size=GLOBAL_BATCH_SIZE)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def distributed_train_step(inputs):
    per_replica_losses = strategy.run(train_step, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_losses, axis=None)


@tf.function
def distributed_test_step(inputs):
    def test_step(inputs):
        images, labels = inputs
        test_accuracy.update_state(labels, model(images, training=False))

    strategy.run(test_step, args=(inputs,))


with tempfile.TemporaryDirectory() as folder:
    for epoch in range(EPOCHS):
        total_loss, num_batches = 0.0, 0
        for batch in train_dataset:
            total_loss += distributed_train_step(batch)
            num_batches += 1
        test_accuracy.reset_state()
        for batch in test_dataset:
            distributed_test_step(batch)
        print("Epoch {}, loss {:.4f}, test accuracy {:.2%}".format(
            epoch + 1, total_loss / num_batches, test_accuracy.result()))
        path = checkpoint.save(os.path.join(folder, "ckpt"))
    checkpoint.restore(tf.train.latest_checkpoint(folder)).assert_consumed()
    print("Restored", os.path.basename(path))
