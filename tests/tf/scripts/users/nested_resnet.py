"""A subclassed residual network with lists, dicts and Sequentials of layers, get_config, and three ways to save it."""

import tensorflow as tf
from tensorflow.keras import backend as K
import numpy as np


class BasicBlock(tf.keras.layers.Layer):
    def __init__(self, filter_num, stride=1, **kwargs):
        super(BasicBlock, self).__init__(**kwargs)
        self.filter_num = filter_num
        self.stride = stride
        self.conv1 = tf.keras.layers.Conv2D(filters=filter_num, kernel_size=(3, 3), strides=stride, padding="same")
        self.bn1 = tf.keras.layers.BatchNormalization()
        self.conv2 = tf.keras.layers.Conv2D(filters=filter_num, kernel_size=(3, 3), strides=1, padding="same")
        self.bn2 = tf.keras.layers.BatchNormalization()
        if stride != 1:
            self.downsample = tf.keras.Sequential()
            self.downsample.add(tf.keras.layers.Conv2D(filters=filter_num, kernel_size=(1, 1), strides=stride))
            self.downsample.add(tf.keras.layers.BatchNormalization())
        else:
            self.downsample = lambda x: x

    def call(self, inputs, training=None, **kwargs):
        residual = self.downsample(inputs)
        x = self.conv1(inputs)
        x = self.bn1(x, training=training)
        x = tf.nn.relu(x)
        x = self.conv2(x)
        x = self.bn2(x, training=training)
        output = tf.nn.relu(tf.keras.layers.add([residual, x]))
        return output

    def get_config(self):
        config = super(BasicBlock, self).get_config()
        config.update({"filter_num": self.filter_num, "stride": self.stride})
        return config


def make_basic_block_layer(filter_num, blocks, stride=1):
    res_block = tf.keras.Sequential()
    res_block.add(BasicBlock(filter_num, stride=stride))
    for _ in range(1, blocks):
        res_block.add(BasicBlock(filter_num, stride=1))
    return res_block


class ResNetTypeI(tf.keras.Model):
    def __init__(self, layer_params, num_classes=3):
        super(ResNetTypeI, self).__init__()
        self.conv1 = tf.keras.layers.Conv2D(filters=4, kernel_size=(3, 3), strides=1, padding="same")
        self.bn1 = tf.keras.layers.BatchNormalization()
        self.stages = []
        for i, blocks in enumerate(layer_params):
            self.stages.append(make_basic_block_layer(4 * 2**i, blocks, stride=1 if i == 0 else 2))
        self.heads = {
            "main": [
                tf.keras.layers.GlobalAveragePooling2D(),
                tf.keras.layers.Dense(num_classes, activation="softmax"),
            ],
            "aux": [tf.keras.layers.Flatten(), tf.keras.layers.Dense(num_classes, activation="softmax")],
        }

    def call(self, inputs, training=None, mask=None):
        x = self.conv1(inputs)
        x = self.bn1(x, training=training)
        x = tf.nn.relu(x)
        outs = []
        for stage in self.stages:
            x = stage(x, training=training)
            outs.append(x)
        out = outs[-1]
        for layer in self.heads["main"]:
            out = layer(out)
        aux = outs[0]
        for layer in self.heads["aux"]:
            aux = layer(aux)
        if training:
            return 0.5 * (out + aux)
        return out


class MaxoutDense(tf.keras.layers.Layer):
    """Weights made in build with tf.Variable, and in __init__ with a list of lists."""

    def __init__(self, units, pieces=2):
        super(MaxoutDense, self).__init__()
        self.units = units
        self.pieces = [[tf.keras.layers.Dense(units)] for _ in range(pieces)]

    def build(self, input_shape):
        self.scale = tf.Variable(initial_value=tf.ones(shape=(self.units,)), trainable=True, name="scale")
        super(MaxoutDense, self).build(input_shape)

    def call(self, x):
        return tf.reduce_max(tf.stack([p[0](x) for p in self.pieces], 0), axis=0) * self.scale


rng = np.random.RandomState(0)
y = rng.randint(0, 3, 96)
x = (rng.rand(96, 8, 8, 3) * 0.3 + np.eye(3)[y][:, None, None, :]).astype("float32")
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = ResNetTypeI(layer_params=[1, 1])
    model.build(input_shape=(None, 8, 8, 3))
    model.summary()
    model.compile(
        optimizer=tf.keras.optimizers.Adadelta(learning_rate=1.0),
        loss=tf.keras.losses.sparse_categorical_crossentropy,
        metrics=["sparse_categorical_accuracy"],
    )
print("trainable:", len(model.trainable_variables), "all:", len(model.variables))
history = model.fit(x, y, batch_size=16, epochs=5, verbose=0).history
assert history["loss"][-1] < history["loss"][0]
model.save_weights("resnet.weights.h5")
with strategy.scope():
    other = ResNetTypeI(layer_params=[1, 1])
    other.build(input_shape=(None, 8, 8, 3))
other.load_weights("resnet.weights.h5")
np.testing.assert_allclose(other(x[:4]).numpy(), model(x[:4]).numpy(), rtol=1e-4, atol=1e-5)
ckpt = tf.train.Checkpoint(model=model)
path = ckpt.write("ckpt/resnet")
fresh = ResNetTypeI(layer_params=[1, 1])
fresh.build(input_shape=(None, 8, 8, 3))
tf.train.Checkpoint(model=fresh).read(path).expect_partial()
np.testing.assert_allclose(fresh(x[:4]).numpy(), model(x[:4]).numpy(), rtol=1e-4, atol=1e-5)

functional = tf.keras.Sequential([tf.keras.layers.InputLayer(input_shape=(8, 8, 3)), BasicBlock(4, 2), BasicBlock(4)])
config = functional.get_config()
rebuilt = tf.keras.Sequential.from_config(config, custom_objects={"BasicBlock": BasicBlock})
assert len(rebuilt.layers) == len(functional.layers)
assert np.sum([K.count_params(p) for p in functional.trainable_weights]) > 0

with strategy.scope():
    maxout = tf.keras.Sequential([tf.keras.layers.Flatten(), MaxoutDense(6), tf.keras.layers.Dense(3)])
    maxout.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
losses = maxout.fit(x, y, batch_size=16, epochs=3, verbose=0).history["loss"]
assert losses[-1] < losses[0]
assert len(maxout.layers[1].trainable_weights) == 5, [w.name for w in maxout.layers[1].trainable_weights]
activations = tf.keras.Model(inputs=functional.inputs, outputs=[layer.output for layer in functional.layers]).predict(
    x[:2], verbose=0
)
assert activations[0].shape == (2, 4, 4, 4)
print("ok")
