"""Own `train_step(self, data)` and `test_step` with GradientTape under `fit`; and a GAN with two optimizers."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf
from keras import layers

tf.keras.utils.set_random_seed(1)

rng = np.random.default_rng(5)
x = rng.random((1024, 12)).astype("float32")
y = x @ rng.random((12, 1)).astype("float32")


class WithCompiledLoss(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


class WithOwnLoss(keras.Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae_metric = keras.metrics.MeanAbsoluteError(name="mae")
        self.loss_fn = keras.losses.MeanSquaredError()

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.loss_fn(y, y_pred)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        self.loss_tracker.update_state(loss)
        self.mae_metric.update_state(y, y_pred)
        return {"loss": self.loss_tracker.result(), "mae": self.mae_metric.result()}

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae_metric]


class WithWeights(keras.Model):
    def train_step(self, data):
        if len(data) == 3:
            x, y, sample_weight = data
        else:
            sample_weight = None
            x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred, sample_weight=sample_weight)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred, sample_weight=sample_weight)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        y_pred = self(x, training=False)
        loss = self.compute_loss(y=y, y_pred=y_pred)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


strategy = tf.distribute.MirroredStrategy()


def made(kind, **compiled):
    inputs = keras.Input(shape=(12,))
    outputs = keras.layers.Dense(1)(inputs)
    model = kind(inputs, outputs)
    model.compile(optimizer=keras.optimizers.Adam(0.02), **compiled)
    return model


with strategy.scope():
    first = made(WithCompiledLoss, loss="mse", metrics=["mae"])
    second = made(WithOwnLoss)
    third = made(WithWeights, loss="mse", metrics=["mae"])
alone = made(WithCompiledLoss, loss="mse", metrics=["mae"])
for model in (first, second, alone):
    history = model.fit(x, y, epochs=3, verbose=0).history
    assert history["mae"][-1] < history["mae"][0] and history["loss"][-1] < history["loss"][0], history
weights = np.linspace(0, 1, len(x), dtype="float32").reshape(-1, 1)
third.fit(x, y, sample_weight=weights, epochs=3, verbose=2)
result = third.evaluate(x, y, verbose=0, return_dict=True)
np.testing.assert_allclose(result["mae"], np.abs(third.predict(x, verbose=0) - y).mean(), rtol=1e-4)

# A GAN: two models, two optimizers, one step.
discriminator = keras.Sequential(
    [
        keras.Input(shape=(28, 28, 1)),
        layers.Conv2D(8, (3, 3), strides=(2, 2), padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Conv2D(8, (3, 3), strides=(2, 2), padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.GlobalMaxPooling2D(),
        layers.Dense(1),
    ],
    name="discriminator",
)
latent_dim = 12
generator = keras.Sequential(
    [
        keras.Input(shape=(latent_dim,)),
        layers.Dense(7 * 7 * 6),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Reshape((7, 7, 6)),
        layers.Conv2DTranspose(6, (4, 4), strides=(2, 2), padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Conv2DTranspose(6, (4, 4), strides=(2, 2), padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Conv2D(1, (7, 7), padding="same", activation="sigmoid"),
    ],
    name="generator",
)


class GAN(keras.Model):
    def __init__(self, discriminator, generator, latent_dim):
        super().__init__()
        self.discriminator = discriminator
        self.generator = generator
        self.latent_dim = latent_dim
        self.d_loss_tracker = keras.metrics.Mean(name="d_loss")
        self.g_loss_tracker = keras.metrics.Mean(name="g_loss")
        self.seed_generator = keras.random.SeedGenerator(31)
        self.built = True

    @property
    def metrics(self):
        return [self.d_loss_tracker, self.g_loss_tracker]

    def compile(self, d_optimizer, g_optimizer, loss_fn):
        super().compile()
        self.d_optimizer = d_optimizer
        self.g_optimizer = g_optimizer
        self.loss_fn = loss_fn

    def train_step(self, real_images):
        batch_size = tf.shape(real_images)[0]
        noise = keras.random.normal(shape=(batch_size, self.latent_dim), seed=self.seed_generator)
        combined = tf.concat([self.generator(noise), real_images], axis=0)
        labels = tf.concat([tf.ones((batch_size, 1)), tf.zeros((batch_size, 1))], axis=0)
        labels += 0.05 * keras.random.uniform(tf.shape(labels), seed=self.seed_generator)
        with tf.GradientTape() as tape:
            d_loss = self.loss_fn(labels, self.discriminator(combined))
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply(grads, self.discriminator.trainable_weights)

        noise = keras.random.normal(shape=(batch_size, self.latent_dim), seed=self.seed_generator)
        misleading = tf.zeros((batch_size, 1))
        with tf.GradientTape() as tape:
            g_loss = self.loss_fn(misleading, self.discriminator(self.generator(noise)))
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply(grads, self.generator.trainable_weights)

        self.d_loss_tracker.update_state(d_loss)
        self.g_loss_tracker.update_state(g_loss)
        return {"d_loss": self.d_loss_tracker.result(), "g_loss": self.g_loss_tracker.result()}


(x_train, _), (x_test, _) = keras.datasets.mnist.load_data()
digits = np.concatenate([x_train[:700], x_test[:100]]).astype("float32") / 255.0
dataset = tf.data.Dataset.from_tensor_slices(np.reshape(digits, (-1, 28, 28, 1)))
dataset = dataset.shuffle(buffer_size=800).batch(32)

gan = GAN(discriminator=discriminator, generator=generator, latent_dim=latent_dim)
gan.compile(
    d_optimizer=keras.optimizers.Adam(learning_rate=0.001),
    g_optimizer=keras.optimizers.Adam(learning_rate=0.001),
    loss_fn=keras.losses.BinaryCrossentropy(from_logits=True),
)
before = generator.get_weights()
history = gan.fit(dataset.take(20), epochs=1, verbose=2).history
assert set(history) == {"d_loss", "g_loss"} and np.isfinite([history["d_loss"], history["g_loss"]]).all()
assert all((old != new).any() for old, new in zip(before, generator.get_weights()))
assert gan.d_optimizer.iterations.numpy() == gan.g_optimizer.iterations.numpy() == 20
print("ok")
