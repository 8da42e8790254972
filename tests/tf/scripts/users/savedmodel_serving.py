"""Export and serve: a Keras model and a tf.Module with signatures, loaded again without their classes."""

import os
import tempfile

import numpy as np
import tensorflow as tf


class Preprocessor(tf.Module):
    def __init__(self, mean, name=None):
        super().__init__(name=name)
        self.mean = tf.Variable(mean, trainable=False, dtype=tf.float32)
        self.calls = tf.Variable(0, dtype=tf.int32)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def __call__(self, x):
        self.calls.assign_add(1)
        return x - self.mean

    @tf.function
    def scale(self, x, factor=2.0):
        return x * factor

    @property
    def count(self):
        return int(self.calls.numpy())


class Serving(tf.Module):
    def __init__(self, model, preprocess):
        self.model = model
        self.preprocess = preprocess
        self.labels = tf.constant([0, 1, 2])

    @tf.function(input_signature=[tf.TensorSpec(shape=[None, 3], dtype=tf.float32, name="rows")])
    def serve(self, rows):
        logits = self.model(self.preprocess(rows))
        probabilities = tf.nn.softmax(logits)
        return {"classes": tf.argmax(logits, axis=1), "probabilities": probabilities}

    @tf.function(input_signature=[tf.TensorSpec(shape=[None, 3], dtype=tf.float32), tf.TensorSpec([], tf.int32)])
    def top(self, rows, k):
        logits = self.model(self.preprocess(rows))
        return {"best": tf.reduce_max(logits, axis=1) + tf.cast(k, tf.float32)}


tmp = tempfile.mkdtemp(dir=".")
rng = np.random.RandomState(0)
x = rng.randn(192, 3).astype("float32")
y = np.argmax(x, axis=1)
with tf.distribute.MirroredStrategy().scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, "relu", input_shape=(3,)), tf.keras.layers.Dense(3)])
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(x, y, epochs=12, verbose=0, batch_size=16)

keras_path = os.path.join(tmp, "keras_model", "1")
tf.saved_model.save(model, keras_path)
print(os.listdir(keras_path))
loaded = tf.saved_model.load(keras_path)
print(list(loaded.signatures.keys()))
infer = loaded.signatures["serving_default"]
print(infer.structured_outputs)
outputs = infer(tf.constant(x[:4]))
np.testing.assert_allclose(list(outputs.values())[0].numpy(), model(x[:4]).numpy(), rtol=1e-5, atol=1e-6)

module = Preprocessor([0.0, 0.1, 0.2])
assert module(x[:2]).shape == (2, 3) and module.count == 1
module.scale(tf.ones([2]), 3.0)
serving = Serving(model, module)
export_dir = os.path.join(tmp, "serving")
tf.saved_model.save(
    serving, export_dir, signatures={"serving_default": serving.serve, "top": serving.top.get_concrete_function()}
)
assert tf.saved_model.contains_saved_model(export_dir)
imported = tf.saved_model.load(export_dir)
result = imported.signatures["serving_default"](rows=tf.constant(x[:8]))
direct = serving.serve(tf.constant(x[:8]))
np.testing.assert_array_equal(result["classes"].numpy(), direct["classes"].numpy())
np.testing.assert_allclose(result["probabilities"].numpy().sum(1), np.ones(8), rtol=1e-5)
assert imported.serve(x[:3])["classes"].shape == (3,)
assert imported.preprocess.mean.numpy()[1] == np.float32(0.1)
top = imported.signatures["top"](rows=tf.constant(x[:8]), k=tf.constant(1))
assert top["best"].shape == (8,)

# Fine-tuning what was loaded.
optimizer = tf.optimizers.SGD(0.05)
variables = imported.model.trainable_variables
losses = []
for _ in range(5):
    with tf.GradientTape() as tape:
        logits = imported.model(x)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    losses.append(loss.numpy())
assert losses[-1] < losses[0]

# The folder of a Keras model, and its weights alone.
model.save(os.path.join(tmp, "folder_model"))
same = tf.keras.models.load_model(os.path.join(tmp, "folder_model"))
np.testing.assert_allclose(same.predict(x[:5], verbose=0), model.predict(x[:5], verbose=0), rtol=1e-5, atol=1e-6)
model.save_weights(os.path.join(tmp, "w.weights.h5"))
json_config = model.to_json()
rebuilt = tf.keras.models.model_from_json(json_config)
rebuilt.load_weights(os.path.join(tmp, "w.weights.h5"))
np.testing.assert_allclose(rebuilt(x[:5]).numpy(), model(x[:5]).numpy(), rtol=1e-5, atol=1e-6)
print("ok")
