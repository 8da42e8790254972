"""The script of the pods: a small training that can be slowed down or disturbed at step 30, and prints its weights.

train.py SECONDS_PER_STEP DISTURBANCE
"""

import hashlib
import os
import signal
import sys
import time

import unisono  # isort: skip
import keras
import numpy as np

DISTURBED_STEP = 30


class Disturbance(keras.callbacks.Callback):
    """Waits at each step; does what the command line says, in worker 1 and only once."""

    def on_train_batch_end(self, batch, logs=None):
        time.sleep(float(sys.argv[1]))
        step = int(self.model.optimizer.iterations)
        if os.environ["RANK"] == "0":
            print(f"step {step}", flush=True)
        elif sys.argv[2] == "deaf":  # to SIGTERM
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        elif step == DISTURBED_STEP and sys.argv[2] == "raise":
            raise ValueError("a mistake of the script")
        elif step == DISTURBED_STEP and sys.argv[2] == "kill" and self._is_first_time():
            os.kill(os.getpid(), signal.SIGKILL)

    def _is_first_time(self) -> bool:
        try:
            os.mkdir(os.path.join(os.environ["UNISONO_RUN_DIR"], "disturbed"))
        except FileExistsError:
            return False
        return True


def main() -> None:
    strategy = unisono.MultiWorkerMirroredStrategy()
    x = np.random.default_rng(0).normal(size=(512, 16)).astype("float32")
    keras.utils.set_random_seed(1)
    with strategy.scope():
        layers = [keras.layers.Dense(32, activation="relu"), keras.layers.Dropout(0.2), keras.layers.Dense(1)]
        model = keras.Sequential([keras.layers.Input((16,)), *layers])
        model.compile(optimizer="adam", loss="mse")
    data = unisono.data.Dataset.from_tensor_slices((x, x.sum(axis=1))).shuffle(512).batch(32)
    model.fit(data, epochs=5, verbose=0, callbacks=[Disturbance()], resume=True)
    weights = b"".join(np.asarray(weight).tobytes() for weight in model.get_weights())
    print(f"{strategy.num_replicas_in_sync} replicas, weights {hashlib.sha256(weights).hexdigest()[:16]}", flush=True)


main()
