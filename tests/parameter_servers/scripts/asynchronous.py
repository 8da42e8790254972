"""One task of a cluster with parameter servers, as TF_CONFIG says. The test kills tasks when the chief prints KILL."""

import json
import os
import time

import numpy as np

import unisono.tf as tf

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
if resolver.task_type in ("worker", "ps"):
    server = tf.distribute.Server(
        resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id, protocol="grpc"
    )
    server.join()

STEPS = 40
strategy = tf.distribute.ParameterServerStrategy(
    resolver, variable_partitioner=tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
x = np.random.default_rng(0).normal(size=(96, 4)).astype("float32")
y = x @ np.float32([[1], [-2], [3], [0.5]])


def kill(task):
    print(f"KILL {task}", flush=True)


def dataset_fn(context):
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(96).repeat()
    return dataset.batch(context.get_per_replica_batch_size(16))


class KillDuringSecondEpoch(tf.keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_begin(self, step, logs=None):
        if self.epoch == 1 and step == 5:
            kill("worker 0")
        if self.epoch == 1:
            time.sleep(0.02)  # so that the worker is killed meanwhile


with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.05), "mse")
    optimizer = tf.keras.optimizers.SGD(0.01)
    rows = tf.keras.metrics.Sum()
creator = tf.keras.utils.experimental.DatasetCreator(dataset_fn)
history = model.fit(creator, epochs=3, steps_per_epoch=STEPS, verbose=0, callbacks=[KillDuringSecondEpoch()])
assert history.history["loss"][-1] < 0.01 < history.history["loss"][0], history.history
assert model.optimizer.iterations.numpy() == 3 * STEPS, model.optimizer.iterations


@tf.function
def step_fn(iterator):
    def replica_fn(features, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(features, training=True) - labels) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        rows.update_state(tf.ones_like(labels))
        return loss

    return strategy.run(replica_fn, args=next(iterator))


def per_worker_dataset_fn():
    return strategy.distribute_datasets_from_function(dataset_fn)


iterator = iter(coordinator.create_per_worker_dataset(per_worker_dataset_fn))
for step in range(STEPS):
    coordinator.schedule(step_fn, args=(iterator,))
    if step == 5:
        kill("worker 1")
    time.sleep(0.02)
coordinator.join()
assert optimizer.iterations.numpy() == STEPS, optimizer.iterations
assert rows.result().numpy() == STEPS * 16, rows.result()

manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), os.environ["CHECKPOINTS"], max_to_keep=1)
manager.save()
kill("ps 1")
try:
    for _ in range(1000):
        coordinator.schedule(step_fn, args=(iterator,))
        coordinator.join()
        time.sleep(0.02)
except tf.errors.UnavailableError as error:
    print(json.dumps({"error": str(error)}), flush=True)
