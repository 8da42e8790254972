"""A GAN: two networks, two optimizers, and a `train_step` that trains both.

    python examples/gan.py
    UNISONO_CPU_DEVICES=2 python examples/gan.py --epochs 1

The step is written once, with `unisono.GradientTape`, as for one device. `fit` runs it on all devices.

Output on two CPU devices:

    Epoch 1/20
    106/106 - 25s - 232ms/step - discriminator_loss: 0.6830 - generator_loss: 0.8401
    …
    Epoch 20/20
    106/106 - 2s - 17ms/step - discriminator_loss: 1.1030 - generator_loss: 0.9242

and one of the images that it makes:

     .     .    .=:
                *%-*       .
               : @%%=
          :    . @@#     .  .
                 #@#*       .
               : @@+      +
                +*@*:
                 @@.+   .
                 #@@
    :           :#@@:
               =   .
"""

import argparse

import unisono  # before keras: it selects Keras's JAX backend
import keras
import numpy as np
from keras import layers, ops

NOISE = 64


class GAN(keras.Model):
    """A generator that makes images of noise, and a discriminator that tells them from real ones."""

    def __init__(self, generator, discriminator):
        super().__init__()
        self.generator, self.discriminator = generator, discriminator
        self.generator_loss = keras.metrics.Mean("generator_loss")
        self.discriminator_loss = keras.metrics.Mean("discriminator_loss")
        self.seeds = keras.random.SeedGenerator(1)

    def compile(self, generator_optimizer, discriminator_optimizer):
        super().compile()
        self.generator_optimizer = generator_optimizer
        self.discriminator_optimizer = discriminator_optimizer
        self.cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)

    def train_step(self, real):
        noise = keras.random.normal((ops.shape(real)[0], NOISE), seed=self.seeds)
        with unisono.GradientTape(persistent=True) as tape:
            fake = self.generator(noise, training=True)
            on_real, on_fake = self.discriminator(real, training=True), self.discriminator(fake, training=True)
            loss_of_generator = self.cross_entropy(ops.ones_like(on_fake), on_fake)
            loss_of_discriminator = self.cross_entropy(ops.ones_like(on_real), on_real) + self.cross_entropy(
                ops.zeros_like(on_fake), on_fake
            )
        for optimizer, loss, network in (
            (self.generator_optimizer, loss_of_generator, self.generator),
            (self.discriminator_optimizer, loss_of_discriminator, self.discriminator),
        ):
            optimizer.apply(tape.gradient(loss, network.trainable_variables), network.trainable_variables)
        self.generator_loss.update_state(loss_of_generator)
        self.discriminator_loss.update_state(loss_of_discriminator)
        return {metric.name: metric.result() for metric in (self.generator_loss, self.discriminator_loss)}


def show(image):
    """An image of 28 x 28 values from -1 to 1, as 14 lines of characters."""
    for row in image[::2]:
        print("".join(" .:-=+*#%@"[int((value + 1) / 2 * 9.99)] for value in row))


parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=20)
options = parser.parse_args()

keras.utils.set_random_seed(0)
(x, y), _ = unisono.datasets.mnist()
ones = x[y == 1].reshape(-1, 784) / np.float32(127.5) - 1  # one digit is learned faster than ten

strategy = unisono.MirroredStrategy()
with strategy.scope():
    dense = lambda units, activation="leaky_relu": layers.Dense(units, activation=activation)  # noqa: E731
    generator = keras.Sequential([keras.Input((NOISE,)), dense(128), dense(256), dense(784, "tanh")])
    discriminator = keras.Sequential([keras.Input((784,)), dense(256), dense(128), dense(1, None)])
    gan = GAN(generator, discriminator)
    gan.compile(keras.optimizers.Adam(2e-4, beta_1=0.5), keras.optimizers.Adam(2e-4, beta_1=0.5))
gan.fit(ones, batch_size=64, epochs=options.epochs, verbose=2)
for image in generator.predict(np.random.default_rng(0).normal(size=(2, NOISE)), verbose=0):
    show(image.reshape(28, 28))
