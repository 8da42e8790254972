"""A step that is given the model and the optimizer, over a distributed dataset of Fashion-MNIST."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)

strategy = tf.distribute.MirroredStrategy()
BUFFER_SIZE, BATCH_SIZE = 2000, 64

# Naming GPUs that are not there is an error that says what there is.
try:
    tf.distribute.MirroredStrategy(devices=["/gpu:0", "/gpu:1"])
except (ValueError, RuntimeError) as error:
    assert "gpu" in str(error).lower() and "cpu" in str(error).lower(), error
else:
    assert len(tf.config.list_physical_devices("GPU")) >= 2


def input_fn(buffer_size, batch_size):
    fashion = tf.keras.datasets.fashion_mnist
    (train_images, train_labels), (test_images, test_labels) = fashion.load_data()
    train_images, test_images = (images[..., None] / np.float32(255) for images in (train_images, test_images))
    train = tf.data.Dataset.from_tensor_slices((train_images[:6000], train_labels[:6000]))
    test = tf.data.Dataset.from_tensor_slices((test_images[:1000], test_labels[:1000]))
    return (
        strategy.experimental_distribute_dataset(train.shuffle(buffer_size).batch(batch_size)),
        strategy.experimental_distribute_dataset(test.batch(batch_size)),
    )


def get_loss(logits, labels):
    return tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
    optimizer = tf.keras.optimizers.Adam(0.003)


@tf.function
def distributed_train_step(dataset_inputs, model, optimizer):
    image, label = dataset_inputs

    def step_fn(image, label):
        with tf.GradientTape() as tape:
            loss = get_loss(model(image), label) / BATCH_SIZE
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss[tf.newaxis]

    per_replica = strategy.run(step_fn, args=(image, label))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=0)


@tf.function
def distributed_test_step(dataset_inputs, model):
    image, label = dataset_inputs

    def step_fn(image, label):
        right = tf.equal(tf.argmax(model(image), axis=1), tf.cast(label, tf.int64))
        return tf.cast(right, tf.float32)

    # The spelling of releases before 2.4.
    return strategy.reduce("SUM", strategy.experimental_run_v2(step_fn, args=(image, label)), axis=0)


train_dataset, test_dataset = input_fn(BUFFER_SIZE, BATCH_SIZE)
means = []
for epoch in range(2):
    losses = [distributed_train_step(batch, model, optimizer) for batch in train_dataset]
    means.append(np.mean([loss.numpy() for loss in losses]))
    print("epoch {}: loss {:.3f}".format(epoch, means[-1]))
assert means[1] < means[0] * 0.8, means
assert optimizer.iterations.numpy() == 2 * len(losses)

right = sum(distributed_test_step(batch, model).numpy() for batch in test_dataset)
print("right: {} of 1000".format(right))
assert right > 700, right
print("ok")
