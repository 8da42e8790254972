"""A one-stage detector on a 4x4 grid: boxes drawn into small images, decoded and filtered with NMS."""

import math
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.random.set_seed(0)

IMG, GRID, NUM_CLASSES, BATCH_SIZE = 32, 4, 2, 16
strategy = tf.distribute.MirroredStrategy()
print("Number of devices: {}".format(strategy.num_replicas_in_sync))


def draw(n, seed=0):
    rng = np.random.RandomState(seed)
    images = rng.uniform(0, 0.1, size=(n, IMG, IMG, 3)).astype(np.float32)
    boxes = np.zeros((n, 4), np.float32)
    classes = rng.randint(0, NUM_CLASSES, n)
    for i in range(n):
        w, h = rng.randint(6, 12, 2)
        x, y = rng.randint(0, IMG - w), rng.randint(0, IMG - h)
        images[i, y : y + h, x : x + w, classes[i]] = 1.0
        boxes[i] = [y / IMG, x / IMG, (y + h) / IMG, (x + w) / IMG]
    return images, boxes, classes


def encode(image, box, label):
    # corners -> centre, into the cell of the centre
    center = (box[:2] + box[2:]) / 2.0
    size = box[2:] - box[:2]
    cell = tf.cast(tf.math.floor(center * GRID), tf.int32)
    offset = center * GRID - tf.cast(cell, tf.float32)
    target = tf.concat([[1.0], offset, size, tf.one_hot(label, NUM_CLASSES)], axis=-1)
    grid = tf.scatter_nd([cell], [target], shape=(GRID, GRID, 5 + NUM_CLASSES))
    return image, grid


class YoloLoss(tf.keras.losses.Loss):
    def __init__(self, lambda_coord=5.0, lambda_noobj=0.5, name="yolo_loss", **kwargs):
        super(YoloLoss, self).__init__(name=name, **kwargs)
        self.lambda_coord = lambda_coord
        self.lambda_noobj = lambda_noobj

    def call(self, y_true, y_pred):
        obj = y_true[..., :1]
        bce = tf.nn.sigmoid_cross_entropy_with_logits(labels=obj, logits=y_pred[..., :1])
        obj_loss = tf.reduce_sum(obj * bce + self.lambda_noobj * (1 - obj) * bce, axis=[1, 2, 3])
        xy = tf.square(y_true[..., 1:3] - tf.sigmoid(y_pred[..., 1:3]))
        wh = tf.square(tf.sqrt(y_true[..., 3:5]) - tf.sqrt(tf.maximum(tf.sigmoid(y_pred[..., 3:5]), 1e-9)))
        box_loss = tf.reduce_sum(obj * (xy + wh), axis=(1, 2, 3))
        cls = tf.nn.softmax_cross_entropy_with_logits(labels=y_true[..., 5:], logits=y_pred[..., 5:])
        cls_loss = tf.reduce_sum(tf.squeeze(obj, -1) * cls, axis=[1, 2])
        return obj_loss + self.lambda_coord * box_loss + cls_loss


def conv_block(x, filters, strides=1):
    x = layers.Conv2D(filters, 3, strides=strides, padding="same", use_bias=False, kernel_initializer="he_normal")(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.LeakyReLU(alpha=0.1)(x)


def build():
    inp = keras.Input((IMG, IMG, 3))
    x = inp
    for f in (8, 16, 32):
        x = conv_block(x, f, strides=2)
    out = layers.Conv2D(5 + NUM_CLASSES, 1, bias_initializer=keras.initializers.Constant(-math.log(9)))(x)
    return keras.Model(inp, out, name="tiny_yolo")


def decode(pred):
    pred = tf.convert_to_tensor(pred)
    yy, xx = tf.meshgrid(tf.range(GRID), tf.range(GRID), indexing="ij")
    cells = tf.cast(tf.stack([yy, xx], axis=-1), tf.float32)
    center = (tf.sigmoid(pred[..., 1:3]) + cells) / GRID
    size = tf.sigmoid(pred[..., 3:5])
    corners = tf.concat([center - size / 2, center + size / 2], axis=-1)
    scores = tf.sigmoid(pred[..., 0]) * tf.reduce_max(tf.nn.softmax(pred[..., 5:]), -1)
    return tf.reshape(corners, (-1, 4)), tf.reshape(scores, (-1,)), tf.reshape(tf.argmax(pred[..., 5:], -1), (-1,))


images, boxes, labels = draw(256)
ds = tf.data.Dataset.from_tensor_slices((images, boxes, labels))
ds = ds.map(encode, num_parallel_calls=tf.data.experimental.AUTOTUNE)
ds = ds.shuffle(256).batch(BATCH_SIZE, drop_remainder=True).prefetch(tf.data.experimental.AUTOTUNE)

with strategy.scope():
    model = build()
    model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=3e-3, clipnorm=10.0), loss=YoloLoss())
history = model.fit(ds, epochs=10, verbose=0)
print("loss", history.history["loss"][0], "->", history.history["loss"][-1])
assert history.history["loss"][-1] < 0.5 * history.history["loss"][0]

test_images, test_boxes, _ = draw(16, seed=1)
hits = 0
for img, truth in zip(test_images, test_boxes):
    pred = model.predict_on_batch(img[np.newaxis])[0]
    corners, scores, classes = decode(pred)
    keep = tf.image.non_max_suppression(corners, scores, max_output_size=3, iou_threshold=0.5, score_threshold=0.01)
    best = tf.gather(corners, keep).numpy()
    assert best.shape[0] <= 3
    if len(best):
        top = np.maximum(best[0][:2], truth[:2])
        bottom = np.minimum(best[0][2:], truth[2:])
        inter = np.prod(np.clip(bottom - top, 0, None))
        union = np.prod(best[0][2:] - best[0][:2]) + np.prod(truth[2:] - truth[:2]) - inter
        hits += inter / union > 0.2
print("hits", hits, "of 16")
assert hits >= 6
drawn = tf.image.draw_bounding_boxes(test_images[:2], test_boxes[:2][:, None, :], colors=np.array([[1.0, 0, 0]]))
assert drawn.shape == (2, IMG, IMG, 3)
print("ok")
