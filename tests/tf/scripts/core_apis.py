"""A classifier without Keras: modules that make their variables on the first call, an optimizer written by hand, values
whose number depends on the data, and an export for any number of rows and columns."""

import tempfile

import numpy as np
import tensorflow as tf

tf.random.set_seed(4)
rng = np.random.default_rng(4)
points = rng.normal(size=(240, 6)).astype("float32")
labels = (points[:, 0] + points[:, 1] > 0).astype("int64")
labels[::10] = -1  # unknown


class Standardize(tf.Module):
    def __init__(self, rows):
        self.mean = tf.Variable(tf.math.reduce_mean(rows, axis=0), trainable=False)
        self.deviation = tf.Variable(tf.math.reduce_std(rows, axis=0), trainable=False)

    def __call__(self, rows):
        return (rows - self.mean) / self.deviation


class Layer(tf.Module):
    def __init__(self, units, activation=tf.identity):
        super().__init__()
        self.units, self.activation, self.ready = units, activation, False

    def __call__(self, x):
        if not self.ready:
            spread = tf.sqrt(2.0 / tf.cast(x.shape[1], tf.float32))
            self.kernel = tf.Variable(tf.random.normal([x.shape[1], self.units]) * spread, name="kernel")
            self.bias = tf.Variable(tf.zeros(shape=[self.units]), name="bias")
            self.ready = True
        return self.activation(x @ self.kernel + self.bias)


class Network(tf.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = list(layers)

    @tf.function
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Momentum:
    def __init__(self, rate=0.1, decay=0.9):
        self.rate, self.decay, self.slots = rate, decay, []

    def apply(self, gradients, variables):
        if not self.slots:
            self.slots = [tf.Variable(tf.zeros_like(variable)) for variable in variables]
        for slot, gradient, variable in zip(self.slots, gradients, variables):
            slot.assign(self.decay * slot + gradient)
            variable.assign_sub(self.rate * slot)


def masked_loss(y, logits):
    known = y >= 0
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.boolean_mask(y, known), logits=tf.boolean_mask(logits, known)
    )
    return tf.reduce_mean(losses), tf.shape(tf.where(known))[0]


standardize = Standardize(tf.constant(points))
network = Network(Layer(np.int64(16), tf.nn.relu), Layer(2))
optimizer = Momentum()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss, count = masked_loss(y, network(standardize(x)))
    optimizer.apply(tape.gradient(loss, network.trainable_variables), network.trainable_variables)
    return loss, count


@tf.function
def wrong_rows(x, y):
    predicted = tf.argmax(network(standardize(x)), axis=1)
    return tf.boolean_mask(x, (y >= 0) & (predicted != y))


dataset = tf.data.Dataset.from_tensor_slices((points, labels)).shuffle(240).batch(60)
losses = []
for _ in range(8):
    for x, y in dataset:
        loss, count = step(x, y)
        assert 0 < int(count) <= 60
        losses.append(float(loss))
assert np.mean(losses[-4:]) < 0.5 * losses[0], losses
assert len(network.trainable_variables) == 4
wrong = wrong_rows(points, labels)
assert wrong.shape[0] < 40 and wrong.shape[1] == 6


class Export(tf.Module):
    def __init__(self, network, standardize):
        super().__init__()
        self.network, self.standardize = network, standardize

    @tf.function(input_signature=[tf.TensorSpec(shape=[None, None], dtype=tf.float32)])
    def __call__(self, x):
        return tf.nn.softmax(self.network(self.standardize(x)))


export = Export(network, standardize)
expected = export(points[:5])
folder = tempfile.mkdtemp()
tf.saved_model.save(export, folder)
np.testing.assert_allclose(tf.saved_model.load(folder)(points[:5]), expected, rtol=1e-5)
print("ok")
