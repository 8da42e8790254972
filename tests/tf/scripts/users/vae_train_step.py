"""A variational autoencoder in the style of keras.io, once with a custom train_step and once with add_loss."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.random.set_seed(0)

latent_dim = 2


class Sampling(layers.Layer):
    """Uses (z_mean, z_log_var) to sample z."""

    def call(self, inputs):
        z_mean, z_log_var = inputs
        batch = tf.shape(z_mean)[0]
        dim = tf.shape(z_mean)[1]
        epsilon = tf.keras.backend.random_normal(shape=(batch, dim))
        return z_mean + tf.exp(0.5 * z_log_var) * epsilon


def make_encoder():
    encoder_inputs = keras.Input(shape=(12, 12, 1))
    x = layers.Conv2D(8, 3, activation="relu", strides=2, padding="same")(encoder_inputs)
    x = layers.Flatten()(x)
    x = layers.Dense(16, activation="relu")(x)
    z_mean = layers.Dense(latent_dim, name="z_mean")(x)
    z_log_var = layers.Dense(latent_dim, name="z_log_var")(x)
    z = Sampling()([z_mean, z_log_var])
    return keras.Model(encoder_inputs, [z_mean, z_log_var, z], name="encoder")


def make_decoder():
    latent_inputs = keras.Input(shape=(latent_dim,))
    x = layers.Dense(6 * 6 * 8, activation="relu")(latent_inputs)
    x = layers.Reshape((6, 6, 8))(x)
    x = layers.Conv2DTranspose(8, 3, activation="relu", strides=2, padding="same")(x)
    decoder_outputs = layers.Conv2DTranspose(1, 3, activation="sigmoid", padding="same")(x)
    return keras.Model(latent_inputs, decoder_outputs, name="decoder")


class VAE(keras.Model):
    def __init__(self, encoder, decoder, **kwargs):
        super(VAE, self).__init__(**kwargs)
        self.encoder = encoder
        self.decoder = decoder
        self.total_loss_tracker = keras.metrics.Mean(name="total_loss")
        self.reconstruction_loss_tracker = keras.metrics.Mean(name="reconstruction_loss")
        self.kl_loss_tracker = keras.metrics.Mean(name="kl_loss")

    @property
    def metrics(self):
        return [self.total_loss_tracker, self.reconstruction_loss_tracker, self.kl_loss_tracker]

    def train_step(self, data):
        if isinstance(data, tuple):
            data = data[0]
        with tf.GradientTape() as tape:
            z_mean, z_log_var, z = self.encoder(data)
            reconstruction = self.decoder(z)
            reconstruction_loss = tf.reduce_mean(
                tf.reduce_sum(keras.losses.binary_crossentropy(data, reconstruction), axis=(1, 2))
            )
            kl_loss = -0.5 * (1 + z_log_var - tf.square(z_mean) - tf.exp(z_log_var))
            kl_loss = tf.reduce_mean(tf.reduce_sum(kl_loss, axis=1))
            total_loss = reconstruction_loss + kl_loss
        grads = tape.gradient(total_loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total_loss_tracker.update_state(total_loss)
        self.reconstruction_loss_tracker.update_state(reconstruction_loss)
        self.kl_loss_tracker.update_state(kl_loss)
        return {
            "loss": self.total_loss_tracker.result(),
            "reconstruction_loss": self.reconstruction_loss_tracker.result(),
            "kl_loss": self.kl_loss_tracker.result(),
        }


rows = np.mgrid[:12, :12][0]
levels = np.random.RandomState(0).randint(2, 10, 320)
digits = (rows[None] < levels[:, None, None]).astype("float32")[..., None]

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    vae = VAE(make_encoder(), make_decoder())
    vae.compile(optimizer=keras.optimizers.Adam(0.01))
history = vae.fit(digits, epochs=8, batch_size=32, verbose=0).history
print({k: (v[0], v[-1]) for k, v in history.items()})
assert history["loss"][-1] < 0.7 * history["loss"][0]
grid = np.linspace(-1.0, 1.0, 4)[::-1]
figure = np.zeros((12 * 4, 12 * 4))
for i, yi in enumerate(grid):
    for j, xi in enumerate(grid):
        x_decoded = vae.decoder.predict(np.array([[xi, yi]]), verbose=0)
        figure[i * 12 : (i + 1) * 12, j * 12 : (j + 1) * 12] = x_decoded[0].reshape(12, 12)
assert 0 <= figure.min() and figure.max() <= 1


class KLLayer(layers.Layer):
    def __init__(self, beta=1e-3, **kwargs):
        super().__init__(**kwargs)
        self.beta = beta

    def call(self, inputs):
        mean, log_var = inputs
        kl = -0.5 * tf.reduce_mean(log_var - tf.square(mean) - tf.exp(log_var) + 1)
        self.add_loss(self.beta * kl)
        return mean, log_var


with strategy.scope():
    encoder, decoder = make_encoder(), make_decoder()
    inputs = keras.Input(shape=(12, 12, 1))
    mean, log_var, _ = encoder(inputs)
    mean, log_var = KLLayer()([mean, log_var])
    outputs = decoder(Sampling()([mean, log_var]))
    model = keras.Model(inputs, outputs)
    model.compile("adam", loss="binary_crossentropy")
loss = model.fit(digits, digits, batch_size=64, epochs=3, verbose=0).history["loss"]
assert loss[-1] < loss[0] and len(model.losses) >= 0
print("ok")
