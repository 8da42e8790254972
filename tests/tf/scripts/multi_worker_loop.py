"""Two processes train one model in a loop by hand, with checkpoints from which a second start continues."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import tensorflow as tf

MAIN = """
import json
import os
import sys

import numpy as np
import tensorflow as tf

per_worker_batch_size = 32
tf.keras.utils.set_random_seed(1)
tf_config = json.loads(os.environ["TF_CONFIG"])
num_workers = len(tf_config["cluster"]["worker"])
global_batch_size = per_worker_batch_size * num_workers
num_epochs, num_steps_per_epoch = int(sys.argv[1]), 20


def dataset_fn(global_batch_size, input_context):
    batch_size = input_context.get_per_replica_batch_size(global_batch_size)
    (x_train, y_train), _ = tf.keras.datasets.mnist.load_data()
    x_train, y_train = x_train[:3000] / np.float32(255), y_train[:3000].astype(np.int64)
    dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3000)
    dataset = dataset.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return dataset.batch(batch_size)


def build_cnn_model():
    regularizer = tf.keras.regularizers.L2(1e-4)
    return tf.keras.Sequential([
        tf.keras.Input(shape=(28, 28)),
        tf.keras.layers.Reshape(target_shape=(28, 28, 1)),
        tf.keras.layers.Conv2D(6, 5, strides=2, activation="relu", kernel_regularizer=regularizer),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(32, activation="relu", kernel_regularizer=regularizer),
        tf.keras.layers.Dense(10, kernel_regularizer=regularizer),
    ])


def is_chief(task_type, task_id, cluster_spec):
    return (
        task_type is None
        or task_type == "chief"
        or (task_type == "worker" and task_id == 0 and "chief" not in cluster_spec.as_dict())
    )


def write_filepath(filepath, task_type, task_id, cluster_spec):
    if is_chief(task_type, task_id, cluster_spec):
        return filepath
    directory = os.path.join(os.path.dirname(filepath), "of-worker-" + str(task_id))
    tf.io.gfile.makedirs(directory)
    return os.path.join(directory, os.path.basename(filepath))


assert is_chief("worker", 0, tf.train.ClusterSpec({}))
checkpoint_dir = os.path.join(".", "kept")
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = build_cnn_model()
    dataset = strategy.distribute_datasets_from_function(
        lambda input_context: dataset_fn(global_batch_size, input_context)
    )
    optimizer = tf.keras.optimizers.RMSprop(learning_rate=0.002)
    train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")


@tf.function
def train_step(iterator):
    def step_fn(inputs):
        x, y = inputs
        with tf.GradientTape() as tape:
            predictions = model(x, training=True)
            per_example = tf.keras.losses.SparseCategoricalCrossentropy(
                from_logits=True, reduction=tf.keras.losses.Reduction.NONE
            )(y, predictions)
            loss = tf.nn.compute_average_loss(per_example)
            if model.losses:
                loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        train_accuracy.update_state(y, predictions)
        return loss

    per_replica_losses = strategy.run(step_fn, args=(next(iterator),))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_losses, axis=None)


epoch = tf.Variable(initial_value=tf.constant(0, dtype=tf.dtypes.int64), name="epoch")
step_in_epoch = tf.Variable(initial_value=tf.constant(0, dtype=tf.dtypes.int64), name="step_in_epoch")

task_type, task_id, cluster_spec = (
    strategy.cluster_resolver.task_type,
    strategy.cluster_resolver.task_id,
    strategy.cluster_resolver.cluster_spec(),
)
assert cluster_spec.as_dict() == tf_config["cluster"]
checkpoint = tf.train.Checkpoint(model=model, epoch=epoch, step_in_epoch=step_in_epoch)
write_checkpoint_dir = write_filepath(checkpoint_dir, task_type, task_id, cluster_spec)
checkpoint_manager = tf.train.CheckpointManager(checkpoint, directory=write_checkpoint_dir, max_to_keep=1)
latest_checkpoint = tf.train.latest_checkpoint(checkpoint_dir)
if latest_checkpoint:
    checkpoint.restore(latest_checkpoint)
begun_with = epoch.numpy()

while epoch.numpy() < num_epochs:
    iterator = iter(dataset)
    total_loss = 0.0
    num_batches = 0
    while step_in_epoch.numpy() < num_steps_per_epoch:
        total_loss += train_step(iterator)
        num_batches += 1
        step_in_epoch.assign_add(1)
    train_loss = total_loss / num_batches
    accuracy = float(train_accuracy.result())
    print("Epoch %d: accuracy %f, loss %f." % (epoch.numpy(), train_accuracy.result(), train_loss))
    train_accuracy.reset_states()
    epoch.assign_add(1)
    step_in_epoch.assign(0)
    checkpoint_manager.save()
    if not is_chief(task_type, task_id, cluster_spec):
        tf.io.gfile.rmtree(write_checkpoint_dir)

with open(f"of-{task_id}.json", "w") as file:
    json.dump([int(begun_with), accuracy, float(train_loss), strategy.num_replicas_in_sync], file)
"""

Path("main.py").write_text(MAIN)
assert tf.train.ClusterSpec({}).as_dict() == {}


def run_workers(number, num_epochs):
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    cluster = {"worker": ["localhost:{}".format(listener.getsockname()[1]) for listener in listeners]}
    for listener in listeners:
        listener.close()
    workers = []
    for index in range(number):
        os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
        with open(f"worker-{index}.log", "w") as log:
            command = [sys.executable, "main.py", str(num_epochs)]
            workers.append(subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT))
    codes = [worker.wait(timeout=150) for worker in workers]
    os.environ.pop("TF_CONFIG")
    for index in range(number):
        print(Path(f"worker-{index}.log").read_text())
    assert codes == [0] * number, codes
    found = [json.loads(Path(f"of-{index}.json").read_text()) for index in range(number)]
    assert found == [found[0]] * number, "all have the same numbers"
    return found[0]


begun_with, accuracy, loss, replicas = run_workers(2, num_epochs=2)
assert (begun_with, replicas) == (0, 2 * tf.distribute.MirroredStrategy().num_replicas_in_sync)
assert accuracy > 0.6, accuracy

# It continues, also when only one of them is left.
begun_with, later_accuracy, later_loss, _ = run_workers(1, num_epochs=3)
assert begun_with == 2 and later_loss < loss and later_accuracy > accuracy
assert [name for name in os.listdir("kept") if name.startswith("ckpt")]
print("ok")
