"""WGAN-GP as a subclassed model: a gradient penalty (a tape in a tape), several steps of the critic, a monitor."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

noise_dim = 4


def get_discriminator_model():
    return keras.models.Sequential(
        [
            layers.Input((2,)),
            layers.Dense(32, activation=tf.nn.leaky_relu),
            layers.Dense(32, tf.nn.leaky_relu),
            layers.Dense(1),
        ]
    )


def get_generator_model():
    noise = layers.Input(shape=(noise_dim,))
    x = layers.Dense(32, activation="relu")(noise)
    x = layers.Dense(32, activation="relu")(x)
    return keras.models.Model(noise, layers.Dense(2)(x), name="generator")


class WGAN(keras.Model):
    def __init__(self, discriminator, generator, latent_dim, discriminator_extra_steps=2, gp_weight=10.0):
        super(WGAN, self).__init__()
        self.discriminator = discriminator
        self.generator = generator
        self.latent_dim = latent_dim
        self.d_steps = discriminator_extra_steps
        self.gp_weight = gp_weight

    def compile(self, d_optimizer, g_optimizer, d_loss_fn, g_loss_fn):
        super(WGAN, self).compile()
        self.d_optimizer = d_optimizer
        self.g_optimizer = g_optimizer
        self.d_loss_fn = d_loss_fn
        self.g_loss_fn = g_loss_fn

    def gradient_penalty(self, batch_size, real, fake):
        alpha = tf.random.normal([batch_size, 1], 0.0, 1.0)
        diff = fake - real
        interpolated = real + alpha * diff
        with tf.GradientTape() as gp_tape:
            gp_tape.watch(interpolated)
            pred = self.discriminator(interpolated, training=True)
        grads = gp_tape.gradient(pred, [interpolated])[0]
        norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=[1]))
        return tf.reduce_mean((norm - 1.0) ** 2)

    def train_step(self, real):
        if isinstance(real, tuple):
            real = real[0]
        batch_size = tf.shape(real)[0]
        for _ in range(self.d_steps):
            random_latent_vectors = tf.random.normal(shape=(batch_size, self.latent_dim))
            with tf.GradientTape() as tape:
                fake = self.generator(random_latent_vectors, training=True)
                fake_logits = self.discriminator(fake, training=True)
                real_logits = self.discriminator(real, training=True)
                d_cost = self.d_loss_fn(real_img=real_logits, fake_img=fake_logits)
                gp = self.gradient_penalty(batch_size, real, fake)
                d_loss = d_cost + gp * self.gp_weight
            d_gradient = tape.gradient(d_loss, self.discriminator.trainable_variables)
            self.d_optimizer.apply_gradients(zip(d_gradient, self.discriminator.trainable_variables))
        random_latent_vectors = tf.random.normal(shape=(batch_size, self.latent_dim))
        with tf.GradientTape() as tape:
            generated = self.generator(random_latent_vectors, training=True)
            g_loss = self.g_loss_fn(self.discriminator(generated, training=True))
        gen_gradient = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_optimizer.apply_gradients(zip(gen_gradient, self.generator.trainable_variables))
        return {"d_loss": d_loss, "g_loss": g_loss, "gp": gp}


class GANMonitor(keras.callbacks.Callback):
    def __init__(self, num=16, latent_dim=128):
        self.num = num
        self.latent_dim = latent_dim
        self.means = []

    def on_epoch_end(self, epoch, logs=None):
        random_latent_vectors = tf.random.normal(shape=(self.num, self.latent_dim))
        generated = self.model.generator(random_latent_vectors)
        self.means.append(generated.numpy().mean(axis=0))
        assert set(logs) >= {"d_loss", "g_loss", "gp"}


def discriminator_loss(real_img, fake_img):
    return tf.reduce_mean(fake_img) - tf.reduce_mean(real_img)


def generator_loss(fake_img):
    return -tf.reduce_mean(fake_img)


np.random.seed(0)
tf.random.set_seed(0)
train = (np.random.randn(1024, 2) * 0.2 + [1.0, -1.0]).astype("float32")
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    wgan = WGAN(get_discriminator_model(), get_generator_model(), latent_dim=noise_dim)
    wgan.compile(
        d_optimizer=keras.optimizers.Adam(learning_rate=0.002, beta_1=0.5, beta_2=0.9),
        g_optimizer=keras.optimizers.Adam(learning_rate=0.002, beta_1=0.5, beta_2=0.9),
        g_loss_fn=generator_loss,
        d_loss_fn=discriminator_loss,
    )
cbk = GANMonitor(num=64, latent_dim=noise_dim)
wgan.fit(train, batch_size=64, epochs=12, callbacks=[cbk], verbose=2)
print("generated means", cbk.means[0], cbk.means[-1])
assert np.abs(cbk.means[-1] - [1.0, -1.0]).max() < np.abs(cbk.means[0] - [1.0, -1.0]).max() + 0.1
print("ok")
