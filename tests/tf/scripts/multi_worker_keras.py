"""Two processes, each started with its own TF_CONFIG, train one model with `fit`, and keep it.

This is the driver. It writes the module and the program of the workers, tries the module in this process as a cluster
of one, and then starts `python main.py` twice.
"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np

MODULE = """
import numpy as np
import tensorflow as tf


def digits_dataset(batch_size):
    (x_train, y_train), _ = tf.keras.datasets.mnist.load_data()
    x_train = x_train[:4000] / np.float32(255)
    y_train = y_train[:4000].astype(np.int64)
    return tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000).repeat().batch(batch_size)


def build_and_compile_cnn_model():
    model = tf.keras.Sequential([
        tf.keras.layers.InputLayer(input_shape=(28, 28)),
        tf.keras.layers.Reshape(target_shape=(28, 28, 1)),
        tf.keras.layers.Conv2D(6, 5, strides=2, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(10),
    ])
    model.compile(
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        optimizer=tf.keras.optimizers.SGD(learning_rate=0.1),
        metrics=["accuracy"],
    )
    return model
"""

MAIN = """
import json
import os

import numpy as np
import tensorflow as tf

import digits

tf.keras.utils.set_random_seed(1)
tf_config = json.loads(os.environ["TF_CONFIG"])
num_workers = len(tf_config["cluster"]["worker"])
options = tf.distribute.experimental.CommunicationOptions(
    implementation=tf.distribute.experimental.CommunicationImplementation.NCCL
)
strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
global_batch_size = 32 * num_workers
dataset = digits.digits_dataset(global_batch_size)
with strategy.scope():
    model = digits.build_and_compile_cnn_model()


def is_chief(task_type, task_id):
    return (task_type == "worker" and task_id == 0) or task_type is None


def write_filepath(filepath, task_type, task_id):
    directory, base = os.path.dirname(filepath), os.path.basename(filepath)
    if not is_chief(task_type, task_id):
        directory = os.path.join(directory, "of-worker-" + str(task_id))
        tf.io.gfile.makedirs(directory)
    return os.path.join(directory, base)


kept = tf.keras.callbacks.BackupAndRestore(backup_dir="./backup", save_freq=20)
history = model.fit(dataset, epochs=2, steps_per_epoch=40, callbacks=[kept], verbose=2).history
assert history["accuracy"][-1] > 0.6, history

# Every worker saves, and those that are not the chief throw theirs away.
task_type, task_id = strategy.cluster_resolver.task_type, strategy.cluster_resolver.task_id
path = write_filepath("./saved/digits", task_type, task_id)
model.save(path)
if not is_chief(task_type, task_id):
    tf.io.gfile.rmtree(os.path.dirname(path))

checkpoint = tf.train.Checkpoint(model=model)
directory = write_filepath("./kept/weights", task_type, task_id)
manager = tf.train.CheckpointManager(checkpoint, directory=directory, max_to_keep=1)
manager.save()
before = [weight.numpy() for weight in model.weights]
model.set_weights([0 * each for each in before])
checkpoint.restore(tf.train.latest_checkpoint("./kept/weights"))
assert all((weight.numpy() == old).all() for weight, old in zip(model.weights, before))
if not is_chief(task_type, task_id):
    tf.io.gfile.rmtree(directory)

np.savez(f"of-{task_id}.npz", *before)
print("worker", task_id, "of", num_workers, "has", strategy.num_replicas_in_sync, "replicas")
"""

Path("digits.py").write_text(MODULE)
Path("main.py").write_text(MAIN)
sys.path.insert(0, ".")

import digits  # noqa: E402  (it was written just now)
import tensorflow as tf  # noqa: E402

# One process alone, with and without a strategy, and without dividing the data.
single = digits.build_and_compile_cnn_model()
single.fit(digits.digits_dataset(32), epochs=1, steps_per_epoch=5, verbose=2)

options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
undivided = digits.digits_dataset(32).with_options(options)
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = digits.build_and_compile_cnn_model()
model.fit(undivided, epochs=1, steps_per_epoch=5, verbose=2)

# Two processes.
listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
tf_config = {
    "cluster": {"worker": ["localhost:{}".format(listener.getsockname()[1]) for listener in listeners]},
    "task": {"type": "worker", "index": 0},
}
for listener in listeners:
    listener.close()
workers = []
for index in range(2):
    tf_config["task"]["index"] = index
    os.environ["TF_CONFIG"] = json.dumps(tf_config)
    with open(f"worker-{index}.log", "w") as log:
        workers.append(subprocess.Popen([sys.executable, "main.py"], stdout=log, stderr=subprocess.STDOUT))
codes = [worker.wait(timeout=150) for worker in workers]
os.environ.pop("TF_CONFIG", None)
for index in range(2):
    print(Path(f"worker-{index}.log").read_text())
assert codes == [0, 0], codes

# Both have the same weights, and these are what was saved.
first, second = (list(np.load(f"of-{index}.npz").values()) for index in range(2))
assert all((one == other).all() for one, other in zip(first, second))
loaded = tf.keras.models.load_model("./saved/digits")
assert all((one == other).all() for one, other in zip(first, loaded.get_weights()))
assert not Path("saved/of-worker-1").exists() and not Path("kept/of-worker-1/weights").exists()
loaded.fit(digits.digits_dataset(64), epochs=1, steps_per_epoch=5, verbose=2)
print("ok")
