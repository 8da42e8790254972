"""Each worker trains on its own data, and worker 1 gets a preemption notice in a given step.

Usage: preempted.py FOLDER STEP signal|request (step -1: never). With `request`, the training runs in a thread, and
another one gives the notice.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

folder, notice_step, notice = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
strategy = unisono.MultiWorkerMirroredStrategy()
index = unisono._src.processes.processes().index
keras.utils.set_random_seed(5)


def own_rows(context):
    random = np.random.default_rng(context.input_pipeline_id)
    x = random.normal(size=(40 + 8 * context.input_pipeline_id, 6)).astype("float32")
    dataset = unisono.data.Dataset.from_tensor_slices((x, x[:, :3].argmax(1)))
    return dataset.shuffle(64).batch(4)


class Steps(keras.callbacks.Callback):
    steps = 0

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        time.sleep(0.1)  # workers hear of each other's signals once a second
        if index == 1 and self.steps == notice_step:
            if notice == "signal":
                os.kill(os.getpid(), signal.SIGTERM)
            else:
                threading.Thread(target=unisono.checkpoint.request_preemption, args=("the node drains",)).start()


def train():
    with strategy.scope():
        layers = [keras.layers.Dense(8, "relu"), keras.layers.Dropout(0.2), keras.layers.Dense(3, "softmax")]
        model = keras.Sequential(layers)
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    data = strategy.distribute_datasets_from_function(own_rows)
    steps = Steps()
    held_out = strategy.distribute_datasets_from_function(own_rows)
    history = model.fit(data, validation_data=held_out, epochs=4, verbose=0, callbacks=[steps], resume=folder / "run")
    arrays = [np.asarray(variable.value) for variable in [*model.variables, *model.optimizer.variables]]
    np.savez(
        folder / f"worker-{index}.npz",
        *arrays,
        loss=history.history["loss"],
        val_loss=history.history["val_loss"],
        steps=steps.steps,
    )


code = 0


def train_in_thread():
    global code
    try:
        train()
    except SystemExit as error:
        code = error.code
    except BaseException:
        code = 1
        raise


if notice == "signal":
    train()
else:
    thread = threading.Thread(target=train_in_thread)
    thread.start()
    thread.join()
    sys.exit(code)
