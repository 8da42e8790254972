"""Two workers that save and restore together, of which only the chief has the disk: FOLDER. Prints what it found."""

import json
import sys
from pathlib import Path

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

from unisono._src.state.checkpoint import _across_processes
from unisono.checkpoint import (
    BadCheckpoint,
    Checkpoint,
    CheckpointError,
    CheckpointManager,
    CheckpointMismatch,
    EverySeconds,
)
from unisono.data import Dataset

strategy = unisono.MultiWorkerMirroredStrategy()
me = unisono._src.processes.processes().index
if me == 1:  # as on another machine, though it could read the chief's folder here
    _across_processes._open_same = lambda folder, files: None
folder = Path(sys.argv[1]) / f"worker-{me}"  # what one writes, the other does not see


class Own:
    """A state that differs between the workers."""

    def __init__(self, state):
        self.state = state

    def get_state(self):
        if self.state == "unknown":
            raise LookupError("no state here")
        return self.state

    def set_state(self, state):
        self.state = state


def made():
    with strategy.scope():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)])
        optimizer, mean_loss = keras.optimizers.Adam(0.01), keras.metrics.Mean()
    x = np.random.default_rng(0).normal(size=(20, 3)).astype("float32")
    dataset = Dataset.from_tensor_slices((x, x[:, :1])).shuffle(20).batch(8).repeat()
    data = iter(strategy.experimental_distribute_dataset(dataset))
    first = 9 * (1 + me)
    own = strategy.distribute_datasets_from_function(lambda context: Dataset.range(first, first + 8).batch(2))
    own_data = iter(own)
    return Checkpoint(model=model, optimizer=optimizer, loss=mean_loss, data=data, own_data=own_data, own=Own(me), n=0)


def train(checkpoint, steps):
    model, optimizer = checkpoint.model, checkpoint.optimizer
    loss_of = keras.losses.MeanSquaredError(reduction="none")

    def step(x, y):
        with unisono.GradientTape() as tape:
            losses = loss_of(y, model(x, training=True))
            loss = unisono.nn.compute_average_loss(losses, global_batch_size=8)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        checkpoint.loss.update_state(losses)

    train_step = unisono.function(lambda batch: strategy.run(step, args=batch))
    seen = []
    for _ in range(steps):
        train_step(next(checkpoint.data))
        parts = strategy.experimental_local_results(next(checkpoint.own_data))
        seen.append(np.concatenate([np.asarray(part) for part in parts]).tolist())
        checkpoint.n += 1
    values = [np.asarray(variable.value).tobytes().hex() for variable in model.variables + optimizer.variables]
    return [values, float(checkpoint.loss.result()), seen, checkpoint.own.state, checkpoint.n]


def caught(kind, act):
    try:
        act()
    except kind as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


one = made()
manager = CheckpointManager(one, folder, max_to_keep=1, background=True)
assert manager.restore_or_initialize() is None
train(one, 2)
manager.save()
manager.save()
expected = train(one, 2)
manager.close()

other = made()
other.own.state, other.n = 99, 99
manager = CheckpointManager(other, folder, policy=EverySeconds(0.001 if me else 3600))  # the chief's clock counts
restored = manager.restore_or_initialize()
found = train(other, 2)
never = manager.save()

no_state = Own("unknown" if me else 1)
if me == 0:
    (folder / "blocked").touch()
failing = {
    "missing": caught((BadCheckpoint, RuntimeError), lambda: other.restore(folder / "ckpt-99")),
    "mismatch": caught(CheckpointMismatch, lambda: Checkpoint(x=0).restore(manager.latest_checkpoint)),
    "one": caught(
        (CheckpointMismatch, RuntimeError),
        lambda: Checkpoint(loss=other.loss, **({"x": 0} if me else {})).restore(manager.latest_checkpoint),
    ),
    "state": caught((LookupError, RuntimeError), lambda: Checkpoint(own=no_state).write(folder / "never")),
    "write": caught((CheckpointError, RuntimeError), lambda: other.write(folder / "blocked")),
}
print(
    "FOUND "
    + json.dumps(
        {
            "equal": found == expected,
            "own": [found[2], found[3]],
            "restored": Path(restored).name,
            "never": never,
            "failing": failing,
        }
    )
)
for checkpoint in (one, other):
    checkpoint.data.close()
    checkpoint.own_data.close()
