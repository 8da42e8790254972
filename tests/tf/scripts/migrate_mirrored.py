"""From estimators with a mirrored strategy to Keras with one."""

import tensorflow as tf
import tensorflow.compat.v1 as tf1

tf.keras.utils.set_random_seed(1)

features = [[1.0, 0.5], [2.0, 1.0], [3.0, 2.5], [4.0, 0.0]]
labels = [[0.3], [0.5], [0.9], [1.0]]
eval_features = [[2.5, 2.0], [3.5, 1.5], [0.5, 0.5]]
eval_labels = [[0.7], [0.9], [0.2]]

old = tf1.data.Dataset.from_tensor_slices((features, labels)).batch(1)
assert sum(1 for _ in old) == 4

# What the old way needs is not there any more, in TensorFlow neither, and the error says what is.
try:
    tf1.estimator.RunConfig(train_distribute=tf1.distribute.MirroredStrategy())
except AttributeError as error:
    assert "fit" in str(error), error
else:
    raise AssertionError("estimators")

dataset = tf.data.Dataset.from_tensor_slices((features, labels)).batch(1)
eval_dataset = tf.data.Dataset.from_tensor_slices((eval_features, eval_labels)).batch(1)

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.models.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adagrad(learning_rate=0.1)

model.compile(optimizer=optimizer, loss="mse")
history = model.fit(dataset, epochs=20, verbose=0)
result = model.evaluate(eval_dataset, return_dict=True)
assert set(result) == {"loss"} and result["loss"] < 0.2, result
assert history.history["loss"][-1] < history.history["loss"][0]
print("ok")
