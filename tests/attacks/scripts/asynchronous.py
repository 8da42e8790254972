"""One task of a cluster with a worker and two parameter servers, as TF_CONFIG says, in the current folder.

    waiting       the chief has started
    trained       the number of steps so far
    result.npz    by the chief: weights, optimizer and losses

The chief connects when there is a file `connect`; the last step begins when there is a file `finish`. With one worker,
steps run one after the other, so that the result is the same in every bit.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

import unisono.tf as tf

NUM_STEPS, DEADLINE = 24, 100.0


def write(name: str, text: object) -> None:
    Path(name + ".new").write_text(str(text))
    Path(name + ".new").rename(name)


def wait_for(file: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while not Path(file).exists():
        if time.monotonic() > deadline:
            sys.exit(f"no {file} within {DEADLINE} s")
        time.sleep(0.02)


resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
if resolver.task_type in ("worker", "ps"):
    tf.distribute.Server(resolver.cluster_spec(), resolver.task_type, resolver.task_id).join()

write("waiting", os.getpid())
wait_for("connect")
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
tf.keras.utils.set_random_seed(5)
with strategy.scope():
    layers = [tf.keras.Input((10,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(3)]
    model = tf.keras.Sequential(layers)
    optimizer = tf.keras.optimizers.Adam()


def dataset_fn():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(64, 10)).astype("float32"), rng.integers(0, 3, 64)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(16)


@tf.function
def step_fn(iterator):
    def replica_fn(x, y):
        with tf.GradientTape() as tape:
            losses = tf.keras.losses.sparse_categorical_crossentropy(y, model(x, training=True), from_logits=True)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return strategy.run(replica_fn, args=next(iterator))


iterator = iter(coordinator.create_per_worker_dataset(dataset_fn))
losses = []
for step in range(NUM_STEPS):
    if step == NUM_STEPS - 1:
        wait_for("finish")
    losses.append(coordinator.schedule(step_fn, args=(iterator,)))
    coordinator.join()
    write("trained", step + 1)
    time.sleep(0.05)
variables = [*model.variables, *optimizer.variables]
arrays = {f"{number} {variable.path}": np.asarray(variable.value) for number, variable in enumerate(variables)}
np.savez("part.npz", losses=np.array([loss.fetch() for loss in losses]), **arrays)
os.replace("part.npz", "result.npz")
