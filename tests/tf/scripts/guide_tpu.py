"""TPUs: devices, a product on one and on all, `fit`, and loops of one and of many steps."""

import tensorflow as tf
import tensorflow_datasets as tfds

tf.keras.utils.set_random_seed(1)

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
cores = tf.config.list_logical_devices("TPU")
print("TPU cores: ", cores)

a = tf.constant([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
b = tf.constant([[1.0, 1.0], [2.0, 0.0], [0.0, 4.0]])
with tf.device("/TPU:0"):
    product = tf.matmul(a, b)
print("on:", product.device)

strategy = tf.distribute.TPUStrategy(resolver)
assert strategy.num_replicas_in_sync == len(cores)


@tf.function
def multiply(x, y):
    return tf.matmul(x, y)


for each in strategy.experimental_local_results(strategy.run(multiply, args=(a, b))):
    assert (each.numpy() == product.numpy()).all()


def create_model():
    regularizer = tf.keras.regularizers.L2(1e-4)
    return tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(8, 5, 2, activation="relu", input_shape=(28, 28, 1), kernel_regularizer=regularizer),
            tf.keras.layers.Conv2D(8, 3, 2, activation="relu", kernel_regularizer=regularizer),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(32, activation="relu", kernel_regularizer=regularizer),
            tf.keras.layers.Dense(10, kernel_regularizer=regularizer),
        ]
    )


def get_dataset(batch_size, is_training=True):
    split = "train" if is_training else "test"
    dataset, info = tfds.load(name="mnist", split=split, with_info=True, as_supervised=True, try_gcs=True)
    assert info.splits[split].num_examples in (60000, 10000)

    def scale(image, label):
        image = tf.cast(image, tf.float32)
        image /= 255.0
        return image, label

    dataset = dataset.map(scale)
    if is_training:
        dataset = dataset.shuffle(4000)
        dataset = dataset.repeat()
    return dataset.batch(batch_size)


batch_size = 100
steps_per_epoch = 40

# fit, with many steps for each call.
with strategy.scope():
    model = create_model()
    model.compile(
        optimizer="adam",
        steps_per_execution=20,
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["sparse_categorical_accuracy"],
    )
history = model.fit(
    get_dataset(batch_size),
    epochs=2,
    steps_per_epoch=steps_per_epoch,
    validation_data=get_dataset(batch_size, is_training=False),
    validation_steps=20,
    verbose=2,
).history
assert history["val_sparse_categorical_accuracy"][-1] > 0.75, history

# A loop.
with strategy.scope():
    model = create_model()
    optimizer = tf.keras.optimizers.Adam(0.002)
    training_loss = tf.keras.metrics.Mean("training_loss", dtype=tf.float32)
    training_accuracy = tf.keras.metrics.SparseCategoricalAccuracy("training_accuracy", dtype=tf.float32)

per_replica_batch_size = batch_size // strategy.num_replicas_in_sync
train_dataset = strategy.distribute_datasets_from_function(lambda _: get_dataset(per_replica_batch_size))


def step_fn(inputs):
    images, labels = inputs
    with tf.GradientTape() as tape:
        logits = model(images, training=True)
        per_example = tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
        loss = tf.nn.compute_average_loss(per_example)
        if model.losses:
            loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(list(zip(grads, model.trainable_variables)))
    training_loss.update_state(loss * strategy.num_replicas_in_sync)
    training_accuracy.update_state(labels, logits)


@tf.function
def train_step(iterator):
    strategy.run(step_fn, args=(next(iterator),))


@tf.function
def train_multiple_steps(iterator, steps):
    for _ in tf.range(steps):
        strategy.run(step_fn, args=(next(iterator),))


train_iterator = iter(train_dataset)
for _ in range(10):
    train_step(train_iterator)
print("step {}, loss {:.3f}".format(optimizer.iterations.numpy(), float(training_loss.result())))
assert optimizer.iterations.numpy() == 10
early = float(training_loss.result())
training_loss.reset_states()
training_accuracy.reset_states()

train_multiple_steps(train_iterator, tf.convert_to_tensor(steps_per_epoch))
late, accuracy = float(training_loss.result()), float(training_accuracy.result())
print("step {}, loss {:.3f}, accuracy {:.3f}".format(optimizer.iterations.numpy(), late, accuracy))
assert optimizer.iterations.numpy() == 10 + steps_per_epoch
assert late < early and accuracy > 0.5
print("ok")
