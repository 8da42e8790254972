"""Super-resolution with depth_to_space: a folder of images, YUV channels, PSNR per epoch in a callback."""

import math
import os
import shutil

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.preprocessing import image_dataset_from_directory
from tensorflow.keras.preprocessing.image import array_to_img, img_to_array, load_img, save_img

crop_size = 24
upscale_factor = 3
input_size = crop_size // upscale_factor
batch_size = 4
root_dir = "BSDS_tiny"
shutil.rmtree(root_dir, ignore_errors=True)
os.makedirs(os.path.join(root_dir, "images"))
rows, cols = np.mgrid[:30, :30]
for i in range(20):
    wave = 0.5 + 0.5 * np.sin((rows * (i % 5 + 1) + cols * (i % 3 + 1)) / 12.0)
    save_img(os.path.join(root_dir, "images", "%02d.png" % i), np.stack([wave] * 3, -1) * 255)

options = dict(
    batch_size=batch_size, image_size=(crop_size, crop_size), validation_split=0.2, seed=1337, label_mode=None
)
train_ds = image_dataset_from_directory(root_dir, subset="training", **options)
valid_ds = image_dataset_from_directory(root_dir, subset="validation", **options)


def scaling(input_image):
    input_image = input_image / 255.0
    return input_image


train_ds = train_ds.map(scaling)
valid_ds = valid_ds.map(scaling)


def process_target(input):
    input = tf.image.rgb_to_yuv(input)
    last_dimension_axis = len(input.shape) - 1
    y, u, v = tf.split(input, 3, axis=last_dimension_axis)
    return y


def process_input(input, input_size, upscale_factor):
    return tf.image.resize(process_target(input), [input_size, input_size], method="area")


train_ds = train_ds.map(lambda x: (process_input(x, input_size, upscale_factor), process_target(x)))
train_ds = train_ds.prefetch(buffer_size=32)
valid_ds = valid_ds.map(lambda x: (process_input(x, input_size, upscale_factor), process_target(x)))
for batch in train_ds.take(1):
    assert batch[0].shape[1:] == (8, 8, 1) and batch[1].shape[1:] == (24, 24, 1)


class DepthToSpace(layers.Layer):
    def __init__(self, block, **kwargs):
        super().__init__(**kwargs)
        self.block = block

    def call(self, x):
        return tf.nn.depth_to_space(x, self.block)


def get_model(upscale_factor=3, channels=1):
    conv_args = {"activation": "relu", "kernel_initializer": "Orthogonal", "padding": "same"}
    inputs = keras.Input(shape=(None, None, channels))
    x = layers.Conv2D(16, 5, **conv_args)(inputs)
    x = layers.Conv2D(8, 3, **conv_args)(x)
    x = layers.Conv2D(channels * (upscale_factor**2), 3, **conv_args)(x)
    outputs = DepthToSpace(upscale_factor)(x)
    return keras.Model(inputs, outputs)


class ESPCNCallback(keras.callbacks.Callback):
    def __init__(self):
        super(ESPCNCallback, self).__init__()
        self.psnr_history = []

    def on_epoch_begin(self, epoch, logs=None):
        self.psnr = []

    def on_epoch_end(self, epoch, logs=None):
        self.psnr_history.append(np.mean(self.psnr))
        print("Mean PSNR for epoch: %.2f" % (np.mean(self.psnr)))

    def on_test_batch_end(self, batch, logs=None):
        self.psnr.append(10 * math.log10(1 / logs["loss"]))


with tf.distribute.MirroredStrategy().scope():
    model = get_model(upscale_factor=upscale_factor, channels=1)
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss=keras.losses.MeanSquaredError())
callback = ESPCNCallback()
checkpoint_filepath = "checkpoint.weights.h5"
keep = keras.callbacks.ModelCheckpoint(
    filepath=checkpoint_filepath, save_weights_only=True, monitor="loss", mode="min", save_best_only=True
)
model.fit(train_ds, epochs=8, callbacks=[callback, keep], validation_data=valid_ds, verbose=2)
model.load_weights(checkpoint_filepath)
assert callback.psnr_history[-1] > callback.psnr_history[0]

img = load_img(os.path.join(root_dir, "images", "03.png"))
ycbcr = img.convert("YCbCr")
y = img_to_array(ycbcr.split()[0]).astype("float32") / 255.0
low = tf.image.resize(y[None, :24, :24], (8, 8), method="area")
high = model.predict(low, verbose=0)
out = array_to_img(np.clip(high[0], 0, 1) * 255.0, scale=False)
assert out.size == (24, 24)
psnr = tf.image.psnr(tf.convert_to_tensor(y[None, :24, :24]), tf.clip_by_value(high, 0.0, 1.0), max_val=1.0)
ssim = tf.image.ssim(tf.convert_to_tensor(y[None, :24, :24]), tf.clip_by_value(high, 0.0, 1.0), max_val=1.0)
print("psnr", float(psnr[0]), "ssim", float(ssim[0]))
print("ok")
