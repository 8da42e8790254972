"""Loops with GradientTape and stock Keras: by hand, compiled, with losses of layers, and a GAN."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)


def get_model():
    inputs = keras.Input(shape=(784,), name="pixels")
    x1 = keras.layers.Dense(32, activation="relu")(inputs)
    x2 = keras.layers.Dense(32, activation="relu")(x1)
    outputs = keras.layers.Dense(10, name="scores")(x2)
    return keras.Model(inputs=inputs, outputs=outputs)


batch_size = 32
(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
x_train = np.reshape(x_train, (-1, 784)).astype("float32") / 255
x_train, x_val = x_train[:3000], x_train[-500:]
y_train, y_val = y_train[:3000], y_train[-500:]
train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(buffer_size=1024).batch(batch_size)
val_dataset = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(batch_size)

# By hand, line by line.
model = get_model()
optimizer = keras.optimizers.Adam(learning_rate=3e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_acc_metric = keras.metrics.SparseCategoricalAccuracy()
val_acc_metric = keras.metrics.SparseCategoricalAccuracy()

for step, (x_batch_train, y_batch_train) in enumerate(train_dataset.take(5)):
    with tf.GradientTape() as tape:
        logits = model(x_batch_train, training=True)
        loss_value = loss_fn(y_batch_train, logits)
    grads = tape.gradient(loss_value, model.trainable_weights)
    optimizer.apply(grads, model.trainable_weights)
    train_acc_metric.update_state(y_batch_train, logits)
    print(f"step {step}: loss {float(loss_value):.4f}, seen {(step + 1) * batch_size}")
assert 0 <= float(train_acc_metric.result()) <= 1
train_acc_metric.reset_state()


# Compiled, with a loss of a layer.
@keras.saving.register_keras_serializable()
class ActivityRegularizationLayer(keras.layers.Layer):
    def call(self, inputs):
        self.add_loss(1e-4 * tf.reduce_sum(inputs))
        return inputs


inputs = keras.Input(shape=(784,), name="pixels")
x = keras.layers.Dense(32, activation="relu")(inputs)
x = ActivityRegularizationLayer()(x)
outputs = keras.layers.Dense(10, name="scores")(x)
model = keras.Model(inputs=inputs, outputs=outputs)
optimizer = keras.optimizers.Adam(learning_rate=3e-3)
extra = []


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss_value = loss_fn(y, logits)
        loss_value += sum(model.losses)
        extra.append(len(model.losses))
    grads = tape.gradient(loss_value, model.trainable_weights)
    optimizer.apply(grads, model.trainable_weights)
    train_acc_metric.update_state(y, logits)
    return loss_value


@tf.function
def test_step(x, y):
    val_acc_metric.update_state(y, model(x, training=False))


for epoch in range(2):
    for x_batch_train, y_batch_train in train_dataset:
        loss_value = train_step(x_batch_train, y_batch_train)
    for x_batch_val, y_batch_val in val_dataset:
        test_step(x_batch_val, y_batch_val)
    reached = float(val_acc_metric.result())
    print(
        f"epoch {epoch}: loss {float(loss_value):.4f}, accuracy {float(train_acc_metric.result()):.3f}, {reached:.3f}"
    )
    train_acc_metric.reset_state()
    val_acc_metric.reset_state()
assert reached > 0.8, reached
assert set(extra) == {1} and len(extra) <= 3, extra  # traced for each shape of a batch, and no more

# A GAN.
latent_dim = 16
discriminator = keras.Sequential(
    [
        keras.Input(shape=(28, 28, 1)),
        keras.layers.Conv2D(8, (3, 3), strides=(2, 2), padding="same"),
        keras.layers.LeakyReLU(negative_slope=0.2),
        keras.layers.Conv2D(8, (3, 3), strides=(2, 2), padding="same"),
        keras.layers.LeakyReLU(negative_slope=0.2),
        keras.layers.GlobalMaxPooling2D(),
        keras.layers.Dense(1),
    ],
    name="discriminator",
)
discriminator.summary()
generator = keras.Sequential(
    [
        keras.Input(shape=(latent_dim,)),
        keras.layers.Dense(7 * 7 * 8),
        keras.layers.LeakyReLU(negative_slope=0.2),
        keras.layers.Reshape((7, 7, 8)),
        keras.layers.Conv2DTranspose(8, (4, 4), strides=(2, 2), padding="same"),
        keras.layers.LeakyReLU(negative_slope=0.2),
        keras.layers.Conv2DTranspose(8, (4, 4), strides=(2, 2), padding="same"),
        keras.layers.LeakyReLU(negative_slope=0.2),
        keras.layers.Conv2D(1, (7, 7), padding="same", activation="sigmoid"),
    ],
    name="generator",
)
d_optimizer = keras.optimizers.Adam(learning_rate=0.002)
g_optimizer = keras.optimizers.Adam(learning_rate=0.002)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def gan_step(real_images):
    noise = tf.random.normal(shape=(batch_size, latent_dim))
    combined = tf.concat([generator(noise), real_images], axis=0)
    labels = tf.concat([tf.ones((batch_size, 1)), tf.zeros((real_images.shape[0], 1))], axis=0)
    labels += 0.05 * tf.random.uniform(labels.shape)
    with tf.GradientTape() as tape:
        d_loss = bce(labels, discriminator(combined))
    grads = tape.gradient(d_loss, discriminator.trainable_weights)
    d_optimizer.apply(grads, discriminator.trainable_weights)

    noise = tf.random.normal(shape=(batch_size, latent_dim))
    misleading = tf.zeros((batch_size, 1))
    with tf.GradientTape() as tape:
        g_loss = bce(misleading, discriminator(generator(noise)))
    grads = tape.gradient(g_loss, generator.trainable_weights)
    g_optimizer.apply(grads, generator.trainable_weights)
    return d_loss, g_loss, generator(noise)


digits = x_train.reshape(-1, 28, 28, 1)[:640]
for real in tf.data.Dataset.from_tensor_slices(digits).shuffle(buffer_size=640).batch(batch_size):
    d_loss, g_loss, generated = gan_step(real)
print(f"discriminator {float(d_loss):.3f}, generator {float(g_loss):.3f}")
assert np.isfinite([float(d_loss), float(g_loss)]).all()
image = keras.utils.array_to_img(generated[0] * 255.0, scale=False)
image.save("generated.png")
assert os.path.getsize("generated.png") > 100
print("ok")
