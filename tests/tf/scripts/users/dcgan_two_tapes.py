"""A DCGAN with two tapes in one function, checkpoints of both networks, and images for a GIF."""

from __future__ import print_function

import os
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

print(tf.__version__)
BUFFER_SIZE = 256
BATCH_SIZE = 32
EPOCHS = 4
noise_dim = 8
num_examples_to_generate = 4

rows, cols = np.mgrid[:8, :8]
train_images = np.stack([((rows + cols + k) % 4 < 2).astype("float32") for k in range(256)])
train_images = train_images.reshape(train_images.shape[0], 8, 8, 1).astype("float32")
train_images = (train_images - 0.5) / 0.5
train_dataset = tf.data.Dataset.from_tensor_slices(train_images).shuffle(BUFFER_SIZE).batch(BATCH_SIZE)


def make_generator_model():
    model = tf.keras.Sequential()
    model.add(layers.Dense(2 * 2 * 16, use_bias=False, input_shape=(noise_dim,)))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())
    model.add(layers.Reshape((2, 2, 16)))
    assert model.output_shape == (None, 2, 2, 16)
    model.add(layers.Conv2DTranspose(8, (5, 5), strides=(2, 2), padding="same", use_bias=False))
    assert model.output_shape == (None, 4, 4, 8)
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())
    model.add(layers.Conv2DTranspose(1, (5, 5), strides=(2, 2), padding="same", use_bias=False, activation="tanh"))
    assert model.output_shape == (None, 8, 8, 1)
    return model


def make_discriminator_model():
    model = tf.keras.Sequential()
    model.add(layers.Conv2D(8, (5, 5), strides=(2, 2), padding="same", input_shape=[8, 8, 1]))
    model.add(layers.LeakyReLU())
    model.add(layers.Dropout(0.3))
    model.add(layers.Flatten())
    model.add(layers.Dense(1))
    return model


generator = make_generator_model()
discriminator = make_discriminator_model()
noise = tf.random.normal([1, noise_dim])
generated_image = generator(noise, training=False)
decision = discriminator(generated_image)
print(decision)

cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def discriminator_loss(real_output, fake_output):
    real_loss = cross_entropy(tf.ones_like(real_output), real_output)
    fake_loss = cross_entropy(tf.zeros_like(fake_output), fake_output)
    return real_loss + fake_loss


def generator_loss(fake_output):
    return cross_entropy(tf.ones_like(fake_output), fake_output)


generator_optimizer = tf.keras.optimizers.Adam(1e-3)
discriminator_optimizer = tf.keras.optimizers.Adam(1e-3)
checkpoint_dir = "./training_checkpoints"
checkpoint_prefix = os.path.join(checkpoint_dir, "ckpt")
checkpoint = tf.train.Checkpoint(
    generator_optimizer=generator_optimizer,
    discriminator_optimizer=discriminator_optimizer,
    generator=generator,
    discriminator=discriminator,
)
seed = tf.random.normal([num_examples_to_generate, noise_dim])


@tf.function
def train_step(images):
    noise = tf.random.normal([BATCH_SIZE, noise_dim])
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated_images = generator(noise, training=True)
        real_output = discriminator(images, training=True)
        fake_output = discriminator(generated_images, training=True)
        gen_loss = generator_loss(fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)
    gradients_of_generator = gen_tape.gradient(gen_loss, generator.trainable_variables)
    gradients_of_discriminator = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients_of_generator, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(gradients_of_discriminator, discriminator.trainable_variables))
    return gen_loss, disc_loss


def generate_and_save_images(model, epoch, test_input):
    predictions = model(test_input, training=False)
    assert predictions.shape == (num_examples_to_generate, 8, 8, 1)
    png = tf.io.encode_png(tf.cast(predictions[0] * 127.5 + 127.5, tf.uint8))
    tf.io.write_file("image_at_epoch_{:04d}.png".format(epoch), png)


def train(dataset, epochs):
    for epoch in range(epochs):
        start = time.time()
        for image_batch in dataset:
            losses = train_step(image_batch)
        generate_and_save_images(generator, epoch + 1, seed)
        if (epoch + 1) % 2 == 0:
            checkpoint.save(file_prefix=checkpoint_prefix)
        print("Time for epoch {} is {:.2f} sec".format(epoch + 1, time.time() - start), [x.numpy() for x in losses])
    return losses


train(train_dataset, EPOCHS)
kept = generator(seed).numpy()
generator.set_weights([np.zeros_like(w) for w in generator.get_weights()])
status = checkpoint.restore(tf.train.latest_checkpoint(checkpoint_dir))
status.assert_existing_objects_matched()
np.testing.assert_allclose(generator(seed).numpy(), kept, atol=1e-5)
assert len(tf.io.gfile.glob("image_at_epoch_*.png")) == EPOCHS
back = tf.io.decode_png(tf.io.read_file("image_at_epoch_0001.png"))
assert back.shape == (8, 8, 1) and back.dtype == tf.uint8
assert int(checkpoint.save_counter) == 2
print("ok")
