"""A loop by hand on Fashion-MNIST: train and test steps, checkpoints, and three ways to walk over the data."""

import os

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)

print(tf.__version__)

fashion = tf.keras.datasets.fashion_mnist
(train_images, train_labels), (test_images, test_labels) = fashion.load_data()
train_images, train_labels = train_images[:2000, ..., None] / np.float32(255), train_labels[:2000]
test_images, test_labels = test_images[:600, ..., None] / np.float32(255), test_labels[:600]

strategy = tf.distribute.MirroredStrategy()
print("Replicas: {}".format(strategy.num_replicas_in_sync))
GLOBAL_BATCH_SIZE = 40
EPOCHS = 2

train_dataset = (
    tf.data.Dataset.from_tensor_slices((train_images, train_labels)).shuffle(len(train_images)).batch(GLOBAL_BATCH_SIZE)
)
test_dataset = tf.data.Dataset.from_tensor_slices((test_images, test_labels)).batch(GLOBAL_BATCH_SIZE)
train_dist_dataset = strategy.experimental_distribute_dataset(train_dataset)
test_dist_dataset = strategy.experimental_distribute_dataset(test_dataset)


def create_model():
    """Without the shape of its input: it is built by the first step that calls it."""
    regularizer = tf.keras.regularizers.L2(1e-5)
    return tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(6, 3, activation="relu", kernel_regularizer=regularizer),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(8, 3, activation="relu", kernel_regularizer=regularizer),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(32, activation="relu", kernel_regularizer=regularizer),
            tf.keras.layers.Dense(10, kernel_regularizer=regularizer),
        ]
    )


checkpoint_dir = "./kept"
checkpoint_prefix = os.path.join(checkpoint_dir, "ckpt")

with strategy.scope():
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction=tf.keras.losses.Reduction.NONE
    )

    def compute_loss(labels, predictions, model_losses):
        loss = tf.nn.compute_average_loss(loss_object(labels, predictions))
        if model_losses:
            loss += tf.nn.scale_regularization_loss(tf.add_n(model_losses))
        return loss

    test_loss = tf.keras.metrics.Mean(name="test_loss")
    train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")
    model = create_model()
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.005)
    checkpoint = tf.train.Checkpoint(optimizer=optimizer, model=model)


def train_step(inputs):
    images, labels = inputs
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = compute_loss(labels, predictions, model.losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_accuracy.update_state(labels, predictions)
    return loss


def test_step(inputs):
    images, labels = inputs
    predictions = model(images, training=False)
    test_loss.update_state(loss_object(labels, predictions))
    test_accuracy.update_state(labels, predictions)


@tf.function
def distributed_train_step(dataset_inputs):
    per_replica_losses = strategy.run(train_step, args=(dataset_inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_losses, axis=None)


@tf.function
def distributed_test_step(dataset_inputs):
    return strategy.run(test_step, args=(dataset_inputs,))


template = "Epoch {}: loss {:.3f}, accuracy {:.1f}; test: loss {:.3f}, accuracy {:.1f}"
for epoch in range(EPOCHS):
    total_loss = 0.0
    num_batches = 0
    for x in train_dist_dataset:
        total_loss += distributed_train_step(x)
        num_batches += 1
    train_loss = total_loss / num_batches
    for x in test_dist_dataset:
        distributed_test_step(x)
    if epoch % 2 == 0:
        checkpoint.save(checkpoint_prefix)
        kept = [variable.numpy() for variable in model.variables]
    print(
        template.format(
            epoch + 1, train_loss, train_accuracy.result() * 100, test_loss.result(), test_accuracy.result() * 100
        )
    )
    reached = test_accuracy.result().numpy()
    if epoch % 2 == 0:
        reached_when_kept = reached
    test_loss.reset_states()
    train_accuracy.reset_states()
    test_accuracy.reset_states()
assert reached > 0.7, reached

# Another model gets the values of the checkpoint, when its variables come to be.
eval_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="eval_accuracy")
new_model = create_model()
new_optimizer = tf.keras.optimizers.Adam()


@tf.function
def eval_step(images, labels):
    eval_accuracy(labels, new_model(images, training=False))


checkpoint = tf.train.Checkpoint(optimizer=new_optimizer, model=new_model)
checkpoint.restore(tf.train.latest_checkpoint(checkpoint_dir))
for images, labels in test_dataset:
    eval_step(images, labels)
print("Accuracy after restoring: {}".format(eval_accuracy.result() * 100))
assert abs(eval_accuracy.result().numpy() - reached_when_kept) < 1e-6
assert all((each.numpy() == old).all() for each, old in zip(new_model.variables, kept))

# The same steps, from an iterator.
train_iter = iter(train_dist_dataset)
for _ in range(5):
    loss = distributed_train_step(next(train_iter))
assert np.isfinite(loss.numpy())
train_accuracy.reset_states()


# A whole epoch inside one function.
@tf.function
def distributed_train_epoch(dataset):
    total_loss = 0.0
    num_batches = 0
    for x in dataset:
        per_replica_losses = strategy.run(train_step, args=(x,))
        total_loss += strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_losses, axis=None)
        num_batches += 1
    return total_loss / tf.cast(num_batches, dtype=tf.float32)


steps_before = optimizer.iterations.numpy()
epoch_loss = distributed_train_epoch(train_dist_dataset)
print("Loss {:.3f}, accuracy {:.1f}".format(epoch_loss.numpy(), train_accuracy.result() * 100))
assert optimizer.iterations.numpy() == steps_before + 50
assert epoch_loss.numpy() < train_loss
print("ok")
