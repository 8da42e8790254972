"""TensorFlow 1 habits that survived into TF2 scripts: compat.v1 names, collections of flags, tf.cast everywhere."""

import tensorflow.compat.v2 as tf2
import tensorflow as tf
import numpy as np

tf.compat.v1.enable_eager_execution()
tf.compat.v1.enable_v2_behavior()
tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
tf.compat.v1.set_random_seed(1234)
assert tf.executing_eagerly() and tf2.executing_eagerly()
print("TF version", tf.version.VERSION)
config = tf.compat.v1.ConfigProto()
config.gpu_options.allow_growth = True
gpus = tf.config.experimental.list_physical_devices("GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
print(tf.test.is_gpu_available(), tf.test.gpu_device_name())

W = tf.compat.v1.get_variable("W", shape=[3, 1], initializer=tf.compat.v1.zeros_initializer())
b = tf.Variable(np.zeros(1), dtype=tf.float32, name="b")
x = tf.constant(np.random.RandomState(0).randn(64, 3), dtype=tf.float32)
y = tf.matmul(x, tf.constant([[1.0], [-2.0], [0.5]])) + 0.3
global_step = tf.compat.v1.train.get_or_create_global_step()
optimizer = tf.compat.v1.train.AdamOptimizer(learning_rate=0.05)


def loss_fn():
    return tf.reduce_mean(input_tensor=tf.math.squared_difference(tf.matmul(x, W) + b, y))


first = loss_fn().numpy()
for i in range(150):
    optimizer.minimize(loss_fn, global_step=global_step, var_list=[W, b])
print("loss", first, "->", loss_fn().numpy(), "steps", int(global_step.numpy()))
assert loss_fn().numpy() < 0.05 * first and int(global_step) == 150

# Old names of functions and arguments.
a = tf.compat.v1.to_float(tf.constant([1, 2, 3]))
assert a.dtype == tf.float32
assert tf.compat.v1.reduce_sum(a, keep_dims=True).shape == (1,)
assert tf.compat.v1.div(6.0, 4.0).numpy() == 1.5
np.testing.assert_array_equal(tf.compat.v1.where([True, False], [1, 2], [3, 4]).numpy(), [1, 4])
assert tf.compat.dimension_value(tf.zeros([2, 3]).shape[1]) == 3
assert tf.zeros([2, 3]).get_shape().as_list() == [2, 3]
assert tf.shape(a)[0].numpy() == 3 and int(tf.size(a)) == 3 and tf.rank(a) == 1
with tf.name_scope("scope"):
    c = tf.identity(a, name="copy")
with tf.compat.v1.variable_scope("layer_1"):
    v = tf.compat.v1.get_variable("kernel", [2, 2], initializer=tf.compat.v1.random_normal_initializer(stddev=0.1))
assert "kernel" in v.name and v.shape == (2, 2)
v.assign(tf.ones([2, 2]))
tf.compat.v1.assign(v, v * 3)
assert v.numpy().sum() == 12
one_hot = tf.one_hot(indices=[0, 2], depth=3, on_value=1.0, off_value=0.0)
logits = tf.constant([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
ce = tf.compat.v1.losses.softmax_cross_entropy(onehot_labels=one_hot, logits=logits)
expected = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=one_hot, logits=logits))
np.testing.assert_allclose(ce.numpy(), expected.numpy(), rtol=1e-5)
correct = tf.equal(tf.argmax(logits, 1), tf.argmax(one_hot, 1))
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
assert accuracy.numpy() == 0.0


def heaviside(value):
    return np.heaviside(value, 0.5).astype(np.float32)


out = tf.compat.v1.py_func(heaviside, [tf.constant([-1.0, 2.0])], tf.float32)
np.testing.assert_array_equal(out.numpy(), [0, 1])
iterator = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(3))
assert iterator.get_next().numpy() == 0
with tf.compat.v1.gfile.GFile("notes.txt", "w") as f:
    f.write("hello")
assert tf.compat.v1.gfile.Exists("notes.txt")
cond = tf.cond(pred=tf.less(1, 2), true_fn=lambda: tf.constant("yes"), false_fn=lambda: tf.constant("no"))
assert cond.numpy() == b"yes"
i, total = tf.while_loop(lambda i, t: tf.less(i, 5), lambda i, t: (i + 1, t + i), [tf.constant(0), tf.constant(0)])
assert total.numpy() == 10
d1, d2 = tf.split(value=tf.range(6), num_or_size_splits=2, axis=0)
assert tf.tile(d1, multiples=[2]).shape[0] == 6 and tf.stack([d1, d2], axis=1).shape == (3, 2)
grads = tf.gradients if hasattr(tf, "gradients") else None

# The estimator is gone from TensorFlow too, and an old script learns what to do.
try:
    tf.estimator.Estimator(model_fn=lambda: None)
except AttributeError as error:
    print(error)
    assert "fit" in str(error) or "keras" in str(error).lower()
else:
    raise AssertionError("no estimators")

strategy = (
    tf.compat.v1.distribute.MirroredStrategy()
    if hasattr(tf.compat.v1, "distribute")
    else tf.distribute.MirroredStrategy()
)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile(loss="mse", optimizer="sgd")
history = model.fit(x, y, epochs=5, batch_size=16, verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
print("ok")
