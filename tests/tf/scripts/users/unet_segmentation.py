"""U-Net for squares and circles, with a dice loss written with the backend, IoU metrics and weights of pixels."""

from __future__ import absolute_import, division, print_function, unicode_literals

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.callbacks import ModelCheckpoint, ReduceLROnPlateau
from tensorflow.keras.layers import (
    Activation,
    BatchNormalization,
    Conv2D,
    Conv2DTranspose,
    Dropout,
    Input,
    MaxPooling2D,
    concatenate,
)
from tensorflow.keras.models import Model, load_model
from tensorflow.keras.optimizers import Adam

tf.random.set_seed(0)

SIZE = 32
OUTPUT_CLASSES = 3


def make_data(n):
    x = np.random.uniform(0, 0.3, (n, SIZE, SIZE, 1))
    y = np.zeros((n, SIZE, SIZE, 1), dtype=np.int32)
    rows, columns = np.mgrid[:SIZE, :SIZE]
    for i in range(n):
        a, b = np.random.randint(6, SIZE - 6, 2)
        circle = (rows - a) ** 2 + (columns - b) ** 2 < 25
        y[i, circle] = 1
        c, d = np.random.randint(0, SIZE - 8, 2)
        y[i, c : c + 8, d : d + 8] = 2
    x[..., 0] += 0.4 * y[..., 0]
    return x.astype(np.float32), y


np.random.seed(0)
x_train, y_train = make_data(96)
x_valid, y_valid = make_data(32)


def load_image_train(image, mask):
    if tf.random.uniform(()) > 0.5:
        image = tf.image.flip_left_right(image)
        mask = tf.image.flip_left_right(mask)
    return image, mask


def add_sample_weights(image, label):
    class_weights = tf.constant([1.0, 2.0, 2.0])
    class_weights = class_weights / tf.reduce_sum(class_weights)
    sample_weights = tf.gather(class_weights, indices=tf.cast(label, tf.int32))
    return image, label, tf.squeeze(sample_weights, -1)


train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).map(load_image_train)
train_dataset = train.cache().shuffle(100).batch(16).repeat().map(add_sample_weights)
train_dataset = train_dataset.prefetch(buffer_size=tf.data.AUTOTUNE)
valid_dataset = tf.data.Dataset.from_tensor_slices((x_valid, y_valid)).batch(16)


def conv2d_block(input_tensor, n_filters, kernel_size=3, batchnorm=True):
    x = input_tensor
    for _ in range(2):
        x = Conv2D(filters=n_filters, kernel_size=(kernel_size, kernel_size), padding="same")(x)
        if batchnorm:
            x = BatchNormalization(momentum=0.8)(x)
        x = Activation("relu")(x)
    return x


def get_unet(input_img, n_filters=8, dropout=0.1):
    c1 = conv2d_block(input_img, n_filters * 1)
    p1 = MaxPooling2D((2, 2))(c1)
    p1 = Dropout(dropout * 0.5)(p1)
    c2 = conv2d_block(p1, n_filters * 2)
    p2 = MaxPooling2D((2, 2))(c2)
    c3 = conv2d_block(p2, n_filters * 4)
    u4 = Conv2DTranspose(n_filters * 2, (3, 3), strides=(2, 2), padding="same")(c3)
    u4 = concatenate([u4, c2])
    c4 = conv2d_block(u4, n_filters * 2)
    u5 = Conv2DTranspose(n_filters, (3, 3), strides=(2, 2), padding="same")(c4)
    u5 = concatenate([u5, c1], axis=3)
    c5 = conv2d_block(u5, n_filters)
    outputs = Conv2D(OUTPUT_CLASSES, (1, 1))(c5)
    return Model(inputs=[input_img], outputs=[outputs])


def dice_coef(y_true, y_pred, smooth=1):
    y_true = K.one_hot(K.cast(K.squeeze(y_true, -1), "int32"), OUTPUT_CLASSES)
    y_true_f = K.flatten(y_true)
    y_pred_f = K.flatten(K.softmax(y_pred))
    intersection = K.sum(y_true_f * y_pred_f)
    return (2.0 * intersection + smooth) / (K.sum(y_true_f) + K.sum(y_pred_f) + smooth)


class UpdatedMeanIoU(tf.keras.metrics.MeanIoU):
    def __init__(self, num_classes=None, name=None, dtype=None, **kwargs):
        super(UpdatedMeanIoU, self).__init__(num_classes=num_classes, name=name, dtype=dtype, **kwargs)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = tf.math.argmax(y_pred, axis=-1)
        return super().update_state(y_true, y_pred, sample_weight)


strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = get_unet(Input((SIZE, SIZE, 1), name="img"))
    model.compile(
        optimizer=Adam(learning_rate=5e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy", dice_coef, UpdatedMeanIoU(num_classes=OUTPUT_CLASSES, name="iou")],
    )
callbacks = [
    ReduceLROnPlateau(factor=0.5, patience=3, min_lr=0.00001, verbose=1),
    ModelCheckpoint("model-unet.h5", verbose=1, save_best_only=True, save_weights_only=False),
]
results = model.fit(
    train_dataset,
    steps_per_epoch=len(x_train) // 16,
    epochs=8,
    callbacks=callbacks,
    validation_data=valid_dataset,
    validation_steps=2,
    verbose=2,
)
loss, acc, dice, iou = model.evaluate(valid_dataset, verbose=0)
print("loss", loss, "accuracy", acc, "dice", dice, "iou", iou)
assert acc > 0.8, acc
best = load_model("model-unet.h5", custom_objects={"dice_coef": dice_coef, "UpdatedMeanIoU": UpdatedMeanIoU})
pred_mask = tf.argmax(best.predict(x_valid[:4], verbose=0), axis=-1)[..., tf.newaxis]
assert pred_mask.shape == (4, SIZE, SIZE, 1)
assert min(results.history["val_loss"]) == np.min(results.history["val_loss"])
print("ok")
