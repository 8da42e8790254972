"""Denoising diffusion on points of a ring: a schedule in NumPy, gather by time step, an averaged network."""

import math

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

timesteps = 40
batch_size = 64


class GaussianDiffusion:
    def __init__(self, beta_start=1e-4, beta_end=0.2, timesteps=1000):
        self.timesteps = timesteps
        self.betas = betas = np.linspace(beta_start, beta_end, timesteps, dtype=np.float64)
        alphas = 1.0 - betas
        alphas_cumprod = np.cumprod(alphas, axis=0)
        alphas_cumprod_prev = np.append(1.0, alphas_cumprod[:-1])
        self.sqrt_alphas_cumprod = tf.constant(np.sqrt(alphas_cumprod), dtype=tf.float32)
        self.sqrt_one_minus = tf.constant(np.sqrt(1.0 - alphas_cumprod), dtype=tf.float32)
        self.coef = tf.constant((1 - alphas) / np.sqrt(1.0 - alphas_cumprod), dtype=tf.float32)
        self.recip = tf.constant(1.0 / np.sqrt(alphas), dtype=tf.float32)
        posterior = betas * (1.0 - alphas_cumprod_prev) / (1.0 - alphas_cumprod)
        self.posterior_std = tf.constant(np.sqrt(np.maximum(posterior, 1e-20)), dtype=tf.float32)

    def _extract(self, a, t, x_shape):
        batch = x_shape[0]
        out = tf.gather(a, t)
        return tf.reshape(out, [batch, 1])

    def q_sample(self, x_start, t, noise):
        x_shape = tf.shape(x_start)
        return (
            self._extract(self.sqrt_alphas_cumprod, t, x_shape) * x_start
            + self._extract(self.sqrt_one_minus, t, x_shape) * noise
        )

    def p_sample(self, pred_noise, x, t, clip=True):
        x_shape = tf.shape(x)
        mean = self._extract(self.recip, t, x_shape) * (x - self._extract(self.coef, t, x_shape) * pred_noise)
        noise = tf.random.normal(shape=x_shape, dtype=x.dtype)
        nonzero = tf.reshape(1 - tf.cast(tf.equal(t, 0), tf.float32), [x_shape[0], 1])
        return mean + nonzero * self._extract(self.posterior_std, t, x_shape) * noise


class TimeEmbedding(layers.Layer):
    def __init__(self, dim, **kwargs):
        super().__init__(**kwargs)
        self.dim = dim
        self.half_dim = dim // 2
        emb = math.log(100) / (self.half_dim - 1)
        self.emb = tf.exp(tf.range(self.half_dim, dtype=tf.float32) * -emb)

    def call(self, inputs):
        inputs = tf.cast(inputs, dtype=tf.float32)
        emb = inputs[:, None] * self.emb[None, :]
        return tf.concat([tf.sin(emb), tf.cos(emb)], axis=-1)


def build_model(width=64):
    x_in = layers.Input(shape=(2,), name="points")
    t_in = keras.Input(shape=(), dtype=tf.int64, name="time_input")
    temb = TimeEmbedding(16)(t_in)
    temb = layers.Dense(width, activation=keras.activations.swish)(temb)
    x = layers.Dense(width)(x_in)
    for _ in range(2):
        h = layers.Dense(width, activation="swish")(layers.Add()([x, layers.Dense(width)(temb)]))
        x = layers.Add()([x, h])
    out = layers.Dense(2, kernel_initializer="zeros")(x)
    return keras.Model([x_in, t_in], out, name="denoiser")


class DiffusionModel(keras.Model):
    def __init__(self, network, ema_network, timesteps, gdf_util, ema=0.99):
        super().__init__()
        self.network = network
        self.ema_network = ema_network
        self.timesteps = timesteps
        self.gdf_util = gdf_util
        self.ema = ema

    def train_step(self, points):
        batch_size = tf.shape(points)[0]
        t = tf.random.uniform(minval=0, maxval=self.timesteps, shape=(batch_size,), dtype=tf.int64)
        with tf.GradientTape() as tape:
            noise = tf.random.normal(shape=tf.shape(points), dtype=points.dtype)
            noisy = self.gdf_util.q_sample(points, t, noise)
            pred_noise = self.network([noisy, t], training=True)
            loss = self.loss(noise, pred_noise)
        gradients = tape.gradient(loss, self.network.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.network.trainable_weights))
        for weight, ema_weight in zip(self.network.weights, self.ema_network.weights):
            ema_weight.assign(self.ema * ema_weight + (1 - self.ema) * weight)
        return {"loss": loss}

    def generate(self, num=16):
        samples = tf.random.normal(shape=(num, 2), dtype=tf.float32)
        for t in reversed(range(0, self.timesteps)):
            tt = tf.cast(tf.fill(num, t), dtype=tf.int64)
            pred_noise = self.ema_network.predict([samples, tt], verbose=0, batch_size=num)
            samples = self.gdf_util.p_sample(pred_noise, samples, tt)
        return samples


tf.random.set_seed(5)
angles = np.random.RandomState(0).uniform(0, 2 * np.pi, 1024)
ring = np.stack([np.cos(angles), np.sin(angles)], -1).astype(np.float32)
train_ds = tf.data.Dataset.from_tensor_slices(ring).shuffle(1024).batch(batch_size, drop_remainder=True)
train_ds = train_ds.prefetch(tf.data.AUTOTUNE)

with tf.distribute.MirroredStrategy().scope():
    network = build_model()
    ema_network = build_model()
    ema_network.set_weights(network.get_weights())
    model = DiffusionModel(network, ema_network, timesteps, GaussianDiffusion(timesteps=timesteps))
    model.compile(loss=keras.losses.MeanSquaredError(), optimizer=keras.optimizers.Adam(learning_rate=3e-3))
history = model.fit(train_ds, epochs=25, verbose=0)
print(history.history["loss"][0], history.history["loss"][-1])
assert history.history["loss"][-1] < history.history["loss"][0]
generated = model.generate(64).numpy()
radius = np.linalg.norm(generated, axis=1)
print("radius %.2f +- %.2f" % (radius.mean(), radius.std()))
assert abs(radius.mean() - 1.0) < 0.35
print("ok")
