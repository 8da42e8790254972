"""From estimators on several machines to Keras under MultiWorkerMirroredStrategy, here with one worker."""

import json
import os

import tensorflow as tf
import tensorflow.compat.v1 as tf1

tf.keras.utils.set_random_seed(1)

features = [[1.0, 0.5], [2.0, 1.0], [3.0, 2.5], [4.0, 0.0]]
labels = [[0.3], [0.5], [0.9], [1.0]]
eval_features = [[2.5, 2.0], [3.5, 1.5]]
eval_labels = [[0.7], [0.9]]

tf_config = {
    "cluster": {"chief": ["localhost:11111"], "worker": ["localhost:12345"], "ps": ["localhost:22222"]},
    "task": {"type": "chief", "index": 0},
}
os.environ["TF_CONFIG"] = json.dumps(tf_config)


def refused(attempt, word):
    try:
        attempt()
    except (AttributeError, NotImplementedError, ValueError) as error:
        assert word in str(error), error
    else:
        raise AssertionError(word)


# Estimators are refused, with what to use; so is a cluster without parameter servers where they are needed.
resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
cluster_spec = resolver.cluster_spec()
assert (resolver.task_type, cluster_spec.num_tasks("worker")) == ("chief", 1)
refused(lambda: tf1.estimator.TrainSpec(input_fn=None), "fit")
server = tf.distribute.Server(
    cluster_spec, job_name="worker", task_index=0, config=tf.compat.v1.ConfigProto(), protocol="grpc", start=False
)
assert server.target.endswith(cluster_spec.task_address("worker", 0))
resolver.task_type = "ps"
refused(lambda: tf.distribute.experimental.ParameterServerStrategy(resolver, variable_partitioner=None), "'ps'")
del os.environ["TF_CONFIG"]

dataset = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(10).repeat().batch(64)
eval_dataset = tf.data.Dataset.from_tensor_slices((eval_features, eval_labels)).repeat().batch(1)

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = tf.keras.models.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.legacy.Adagrad(learning_rate=0.1)
    model.compile(optimizer, "mse", steps_per_execution=10)

history = model.fit(dataset, epochs=5, steps_per_epoch=10, verbose=2)
result = model.evaluate(eval_dataset, steps=10, return_dict=True)
assert result["loss"] < 0.3, result
assert history.history["loss"][-1] < history.history["loss"][0]
print("ok")
