"""Gradient accumulation in train_step, clipping by the global norm, and frozen layers with their own learning rate."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)


class GradientAccumulatingModel(tf.keras.Model):
    def __init__(self, n_gradients, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.n_gradients = tf.constant(n_gradients, dtype=tf.int32)
        self.n_acum_step = tf.Variable(0, dtype=tf.int32, trainable=False)
        self.gradient_accumulation = [
            tf.Variable(tf.zeros_like(v, dtype=tf.float32), trainable=False) for v in self.trainable_variables
        ]

    def train_step(self, data):
        self.n_acum_step.assign_add(1)
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses)
        gradients = tape.gradient(loss, self.trainable_variables)
        gradients, norm = tf.clip_by_global_norm(gradients, 5.0)
        for i in range(len(self.gradient_accumulation)):
            self.gradient_accumulation[i].assign_add(gradients[i])
        tf.cond(tf.equal(self.n_acum_step, self.n_gradients), self.apply_accu_gradients, lambda: None)
        self.compiled_metrics.update_state(y, y_pred)
        results = {m.name: m.result() for m in self.metrics}
        results["norm"] = norm
        return results

    def apply_accu_gradients(self):
        self.optimizer.apply_gradients(zip(self.gradient_accumulation, self.trainable_variables))
        self.n_acum_step.assign(0)
        for i in range(len(self.gradient_accumulation)):
            self.gradient_accumulation[i].assign(tf.zeros_like(self.trainable_variables[i], dtype=tf.float32))


rng = np.random.RandomState(0)
x = rng.randn(256, 8).astype("float32")
y = (x.sum(1) > 0).astype("int32")

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    inputs = tf.keras.Input(shape=(8,))
    h = tf.keras.layers.Dense(16, activation="relu", kernel_regularizer=tf.keras.regularizers.l2(1e-4))(inputs)
    outputs = tf.keras.layers.Dense(2)(h)
    custom_model = GradientAccumulatingModel(n_gradients=4, inputs=inputs, outputs=outputs)
    custom_model.compile(
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        optimizer=tf.keras.optimizers.Adam(learning_rate=0.02),
    )
history = custom_model.fit(x, y, epochs=8, batch_size=16, verbose=0)
print(history.history)
assert int(custom_model.optimizer.iterations) == 8 * (256 // 16) // 4
assert history.history["accuracy"][-1] > 0.8

# The same by hand, with two optimizers: the head learns faster than the trunk.
trunk = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh", input_shape=(8,))])
head = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(16,))])
slow, fast = tf.keras.optimizers.SGD(0.01), tf.keras.optimizers.Adam(0.02)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
accumulated = [tf.zeros_like(v) for v in trunk.trainable_variables + head.trainable_variables]


@tf.function
def gradients_of(xb, yb):
    with tf.GradientTape() as tape:
        loss = bce(yb, head(trunk(xb)))
    return loss, tape.gradient(loss, trunk.trainable_variables + head.trainable_variables)


losses = []
for epoch in range(5):
    for i, start in enumerate(range(0, 256, 32)):
        loss, grads = gradients_of(x[start : start + 32], y[start : start + 32, None].astype(np.float32))
        accumulated = [a + g for a, g in zip(accumulated, grads)]
        if (i + 1) % 2 == 0:
            accumulated = [tf.clip_by_norm(a / 2.0, 1.0) for a in accumulated]
            slow.apply_gradients(zip(accumulated[:2], trunk.trainable_variables))
            fast.apply_gradients(zip(accumulated[2:], head.trainable_variables))
            accumulated = [tf.zeros_like(a) for a in accumulated]
    losses.append(float(loss))
assert losses[-1] < losses[0]
# An embedding's rows that appear twice in a batch.
table = tf.Variable(tf.ones([5, 2]))
with tf.GradientTape() as tape:
    total = tf.reduce_sum(tf.gather(table, [1, 1, 3]) * 2.0)
grad = tf.convert_to_tensor(tape.gradient(total, table))
np.testing.assert_array_equal(grad.numpy()[:, 0], [0, 4, 0, 2, 0])
print("global norm", tf.linalg.global_norm([grad]).numpy())
print("ok")
