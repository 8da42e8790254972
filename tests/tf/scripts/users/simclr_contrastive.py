"""Self-supervised contrastive pre-training, then a linear probe on a few labels; the loop runs on all replicas."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)
GLOBAL_BATCH = 64
TEMPERATURE = 0.2
strategy = tf.distribute.MirroredStrategy()

rng = np.random.RandomState(0)
labels = rng.randint(0, 3, 384)
base = np.zeros((3, 16, 16, 3), np.float32)
base[0, :8, :, 0] = 1
base[1, :, :8, 1] = 1
base[2, 4:12, 4:12, 2] = 1
images = np.clip(base[labels] + 0.1 * rng.randn(384, 16, 16, 3), 0, 1).astype(np.float32)


@tf.function
def random_apply(func, x, p):
    return tf.cond(tf.less(tf.random.uniform([], 0, 1), tf.cast(p, tf.float32)), lambda: func(x), lambda: x)


def color_jitter(x, s=0.5):
    x = tf.image.random_brightness(x, max_delta=0.4 * s)
    x = tf.image.random_contrast(x, lower=1 - 0.4 * s, upper=1 + 0.4 * s)
    return tf.clip_by_value(x, 0, 1)


def random_crop_and_resize(x):
    x = tf.image.random_crop(x, (12, 12, 3))
    return tf.image.resize(x, (16, 16), method="bilinear")


def custom_augment(image):
    image = random_crop_and_resize(image)
    image = random_apply(color_jitter, image, p=0.8)
    return image


def two_views(image):
    return custom_augment(image), custom_augment(image)


ds = tf.data.Dataset.from_tensor_slices(images).shuffle(384)
ds = ds.map(two_views, num_parallel_calls=tf.data.AUTOTUNE).batch(GLOBAL_BATCH, drop_remainder=True)
ds = ds.prefetch(tf.data.AUTOTUNE)
dist_ds = strategy.experimental_distribute_dataset(ds)

with strategy.scope():
    inputs = tf.keras.layers.Input((16, 16, 3))
    h = tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu")(inputs)
    h = tf.keras.layers.Conv2D(32, 3, strides=2, activation="relu")(h)
    trunk = tf.keras.layers.GlobalAveragePooling2D()(h)
    projection = tf.keras.layers.Dense(16)(tf.keras.layers.Activation("relu")(tf.keras.layers.Dense(32)(trunk)))
    simclr = tf.keras.Model(inputs, [trunk, projection])
    decay_steps = 60
    lr = tf.keras.experimental.CosineDecay(initial_learning_rate=0.01, decay_steps=decay_steps)
    optimizer = tf.keras.optimizers.Adam(lr)


def nt_xent(z1, z2):
    z1 = tf.math.l2_normalize(z1, axis=1)
    z2 = tf.math.l2_normalize(z2, axis=1)
    n = tf.shape(z1)[0]
    z = tf.concat([z1, z2], axis=0)
    logits = tf.matmul(z, z, transpose_b=True) / TEMPERATURE
    logits = tf.linalg.set_diag(logits, tf.fill([2 * n], -1e9))
    targets = tf.concat([tf.range(n, 2 * n), tf.range(n)], axis=0)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)


def step_fn(a, b):
    with tf.GradientTape() as tape:
        _, z1 = simclr(a, training=True)
        _, z2 = simclr(b, training=True)
        loss = tf.reduce_sum(nt_xent(z1, z2)) / (2.0 * GLOBAL_BATCH)
    grads = tape.gradient(loss, simclr.trainable_variables)
    optimizer.apply_gradients(zip(grads, simclr.trainable_variables))
    return loss


@tf.function
def train_step(a, b):
    per_replica = strategy.run(step_fn, args=(a, b))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)


epoch_losses = []
for epoch in range(8):
    step_wise = []
    for a, b in dist_ds:
        step_wise.append(train_step(a, b).numpy())
    epoch_losses.append(np.mean(step_wise))
    print("epoch: {} loss: {:.3f} lr: {}".format(epoch + 1, epoch_losses[-1], float(optimizer.lr)))
assert epoch_losses[-1] < epoch_losses[0]

features = simclr(images, training=False)[0].numpy()
with strategy.scope():
    linear = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])
    linear.compile("adam", "sparse_categorical_crossentropy", ["accuracy"])
linear.fit(features[:64] * 10, labels[:64], epochs=30, verbose=0, batch_size=16)
acc = linear.evaluate(features[64:] * 10, labels[64:], verbose=0)[1]
print("probe accuracy", acc)
assert acc > 0.5
print("ok")
