"""What code of the first years of TensorFlow 2 does: private imports, flags, session options, optimizers of TF 1."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from tensorflow.core.framework import summary_pb2
from tensorflow.python.client import device_lib
from tensorflow.python.framework import ops
from tensorflow.python.keras import backend as K
from tensorflow.python.keras.layers import Dense, Layer
from tensorflow.python.keras.models import Sequential
from tensorflow.python.keras.utils.np_utils import to_categorical
from tensorflow.python.ops import array_ops, math_ops
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.util import deprecation

deprecation._PRINT_DEPRECATION_WARNINGS = False
logging.set_verbosity(logging.ERROR)
flags = tf1.flags
flags.DEFINE_integer("steps", 5, "the number of steps")
flags.DEFINE_string(flag_name="name", default_value="adam", docstring="the optimizer")
FLAGS = flags.FLAGS


class Scale(Layer):
    def build(self, input_shape):
        self.factor = self.add_weight(name="factor", shape=(input_shape[-1],), initializer="ones")

    def call(self, inputs):
        return math_ops.multiply(ops.convert_to_tensor(inputs), self.factor)


def main(_):
    config = tf1.ConfigProto()
    config.gpu_options.allow_growth = True
    tf1.keras.backend.set_session(tf1.Session(config=config))
    assert [device.name for device in device_lib.list_local_devices() if device.device_type == "CPU"]
    assert not [device for device in device_lib.list_local_devices() if device.device_type == "GPU"]

    rng = np.random.default_rng(1)
    x = rng.normal(size=(24, 3)).astype("float32")
    y = to_categorical((x.sum(1) > 0).astype(int), 2)
    with tf.distribute.MirroredStrategy().scope():
        model = Sequential([Scale(input_shape=(3,)), Dense(2)])
        optimizer = tf1.train.AdamOptimizer(0.1)
        model.compile(optimizer, lambda a, b: tf1.losses.softmax_cross_entropy(a, b, reduction="none"))
    losses = model.fit(x, y, batch_size=7, epochs=FLAGS.steps, shuffle=False, verbose=0).history["loss"]
    assert losses[-1] < losses[0], losses
    assert K.int_shape(array_ops.reshape(K.constant(x), (-1,))) == (72,)

    with tf1.variable_scope("line", reuse=tf1.AUTO_REUSE):
        slope = tf1.get_variable("slope", [], initializer=tf1.zeros_initializer())
    step = tf1.train.get_or_create_global_step()
    descent = tf1.train.GradientDescentOptimizer(tf1.train.exponential_decay(0.2, step, 10, 0.5))
    for _ in range(20):
        descent.minimize(lambda: tf1.losses.mean_squared_error(3 * x[:, 0], slope * x[:, 0]), global_step=step)
    assert abs(float(slope) - 3) < 0.3, float(slope)
    assert int(step) == 20
    with tf1.summary.FileWriter("logs") as writer:
        value = summary_pb2.Summary.Value(tag="slope", simple_value=float(slope))
        writer.add_summary(summary_pb2.Summary(value=[value]), int(step))
    (file,) = tf1.gfile.Glob("logs/*")
    assert [v.tag for e in tf1.train.summary_iterator(file) for v in e.summary.value] == ["slope"]
    for package in ("tensorflow_addons", "tensorflow_probability", "tensorflow_hub", "tensorflow_text"):
        try:
            __import__(package)
        except ImportError as error:
            assert "Unisono" in str(error), error
        else:
            raise AssertionError(package)
    print("ok")


if __name__ == "__main__":
    tf1.app.run()
