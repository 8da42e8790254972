"""From TPUEstimator to Keras under TPUStrategy."""

import tensorflow as tf
import tensorflow.compat.v1 as tf1

tf.keras.utils.set_random_seed(1)

features = [[1.0, 0.5], [2.0, 1.0], [3.0, 2.5], [4.0, 0.0]] * 2
labels = [[0.3], [0.5], [0.9], [1.0]] * 2

print(tf1.config.list_logical_devices("TPU"))
assert tf1.distribute.cluster_resolver.TPUClusterResolver(tpu="").master() is not None
try:
    tf1.estimator.tpu.TPUConfig(iterations_per_loop=10)
except AttributeError as error:
    assert "fit" in str(error), error
else:
    raise AssertionError("estimators")

cluster_resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(cluster_resolver)
tf.tpu.experimental.initialize_tpu_system(cluster_resolver)
strategy = tf.distribute.TPUStrategy(cluster_resolver)
assert strategy.num_replicas_in_sync == len(tf.config.list_logical_devices("TPU"))


def input_fn():
    dataset = tf.data.Dataset.from_tensor_slices((features, labels))
    return dataset.shuffle(8).repeat().batch(8, drop_remainder=True).prefetch(2)


eval_dataset = tf.data.Dataset.from_tensor_slices((features, labels)).batch(4)

with strategy.scope():
    model = tf.keras.models.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adagrad(learning_rate=0.2)
    model.compile(optimizer, "mse", steps_per_execution=5)

history = model.fit(input_fn(), epochs=4, steps_per_epoch=10, verbose=2).history
result = model.evaluate(eval_dataset, return_dict=True)
assert history["loss"][-1] < history["loss"][0] and result["loss"] < 0.3, (history, result)
print("ok")
