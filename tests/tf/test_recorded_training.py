"""Datasets, losses, metrics, optimizers and training from fixed weights, compared with results of TensorFlow."""

import numpy as np

import unisono.tf as tf
from tests.tf.recording import random_numbers, recorded

ROWS, LABELS = random_numbers(32, 5), np.random.RandomState(1).randint(0, 3, 32)
FIRST, SECOND = random_numbers(5, 8, seed=2) * 0.3, random_numbers(8, 3, seed=3) * 0.3


@recorded
def test_datasets():
    dataset = tf.data.Dataset.from_tensor_slices((ROWS[:6], LABELS[:6]))
    mapped = dataset.map(lambda x, y: (tf.reduce_sum(tf.square(x)), tf.one_hot(y, 3)))
    counted = tf.data.Dataset.range(7).filter(lambda x: x % 2 == 0).batch(2)
    return {
        "mapped": list(mapped),
        "batches": [[x, y] for x, y in dataset.batch(4)],
        "counted": list(counted),
        "reduced": tf.data.Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x),
        "text": list(tf.data.Dataset.from_tensor_slices(["a b", "c d"]).map(lambda x: tf.strings.split(x)[0])),
        "numpy": list(tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(lambda n: n * 2, [x], tf.int64))),
        "images": list(
            tf.data.Dataset.from_tensor_slices(np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)).map(
                lambda x: tf.image.resize(tf.cast(x, tf.float32) / 255.0, [3, 3])
            )
        ),
    }


@recorded
def test_losses_and_metrics():
    logits, labels = tf.constant(random_numbers(4, 3)), tf.constant([0, 2, 1, 1])
    hot = tf.one_hot(labels, 3)
    accuracy, mean = tf.keras.metrics.SparseCategoricalAccuracy(), tf.keras.metrics.Mean()
    accuracy.update_state(labels, logits)
    mean.update_state([1.0, 2.0, 6.0])
    return {
        "sparse": tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(labels, logits),
        "each": tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")(labels, logits),
        "hot": tf.keras.losses.CategoricalCrossentropy(from_logits=True)(hot, logits),
        "binary": tf.keras.losses.BinaryCrossentropy(from_logits=True)(hot, logits),
        "squares": tf.keras.losses.MeanSquaredError()(hot, logits),
        "accuracy": accuracy.result(),
        "mean": mean.result(),
    }


def training_losses(optimizer, compiled):
    """Returns the losses of a custom training loop, from fixed weights."""
    first, second = tf.Variable(FIRST), tf.Variable(SECOND)
    bias = tf.Variable(tf.zeros([3]))
    variables = [first, second, bias]
    optimizer.build(variables)
    dataset = tf.data.Dataset.from_tensor_slices((ROWS, LABELS)).batch(8).repeat(2)

    def step(x, y):
        with tf.GradientTape() as tape:
            logits = tf.matmul(tf.nn.relu(tf.matmul(x, first)), second) + bias
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            loss = tf.reduce_mean(each) + 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in variables])
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    run = tf.function(step) if compiled else step
    return [run(x, y) for x, y in dataset], [variable.numpy() for variable in variables]


@recorded(tolerance=1e-4)
def test_training_with_sgd():
    return training_losses(tf.keras.optimizers.SGD(0.1, momentum=0.9), compiled=True)


@recorded(tolerance=1e-4)
def test_training_with_adam():
    return training_losses(tf.keras.optimizers.Adam(0.01), compiled=True)


@recorded(tolerance=1e-4)
def test_eager_training():
    return training_losses(tf.keras.optimizers.RMSprop(0.01), compiled=False)
