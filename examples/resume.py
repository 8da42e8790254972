"""Resuming: kill this script at any moment, start it again, and it continues at the step after the last checkpoint.

    python examples/resume.py                       # stop it with Ctrl-C, or with kill -9 from another terminal
    python examples/resume.py                       # continues; the last line is that of a run without interruption
    UNISONO_CPU_DEVICES=2 python examples/resume.py --folder runs/two-devices

`resume=` is the only addition. A checkpoint holds the weights, the state of the optimizer, the seeds of the dropout,
and the position in the shuffled data.

Output of the second run on two CPU devices, with `--epochs 3`, after a first one with `--epochs 2`:

    Training resumes with epoch 3; restored …/runs/resume-example/checkpoints/fit-1/save-6.
    Epoch 3/3
    235/235 - 4s - 19ms/step - accuracy: 0.9583 - loss: 0.1478
    after 705 steps, SHA-256 of the weights: eea0b15c322d429e
"""

import argparse
import hashlib

import unisono  # before keras: it selects Keras's JAX backend
import keras
from keras import layers
from unisono.checkpoint import EverySteps

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--folder", default="runs/resume-example", help="delete it to start again from the beginning")
options = parser.parse_args()

keras.utils.set_random_seed(0)
(x, y), _ = unisono.datasets.mnist()

strategy = unisono.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential(
        [
            keras.Input((28, 28)),
            layers.Rescaling(1 / 255),
            layers.Flatten(),
            layers.Dense(256, activation="relu"),
            layers.Dropout(0.3),
            layers.Dense(10),
        ]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])

checkpoints = unisono.Resume(options.folder, policy=EverySteps(100))  # without a policy: every 30 seconds
model.fit(x, y, batch_size=256, epochs=options.epochs, verbose=2, resume=checkpoints)

digest = hashlib.sha256(b"".join(weight.tobytes() for weight in model.get_weights())).hexdigest()
print(f"after {int(model.optimizer.iterations)} steps, SHA-256 of the weights: {digest[:16]}")
