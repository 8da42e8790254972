"""Two workers with two devices each, whose state is sharded over all four: FOLDER. Prints what it found.

Everything is written to one folder, which both see: checkpoints, of which each worker writes a part, and the files of a
model, which the chief writes alone.
"""

import contextlib
import json
import os
import sys
from pathlib import Path

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

from unisono._src.devices import _placement
from unisono._src.keras_hooks import raw_value
from unisono._src.processes import processes
from unisono._src.state.checkpoint import _pieces, _writer
from unisono._src.state.store import StoredArray
from unisono._src.training import _resume
from unisono.callbacks import ModelCheckpoint, TensorBoard
from unisono.checkpoint import Checkpoint, CheckpointError, CheckpointManager

strategy = unisono.FullyShardedStrategy(min_shard_size=0)
me, folder = processes().index, Path(sys.argv[1])
x = np.random.default_rng(0).normal(size=(16, 8)).astype("float32")


class Refuses(keras.layers.Dense):
    """Cannot always be saved."""

    refuses = False

    def save_own_variables(self, store):
        super().save_own_variables(store)
        if self.refuses:
            raise RuntimeError("this layer refuses")


def made(seed):
    keras.utils.set_random_seed(seed)
    with strategy.scope():
        model = keras.Sequential(
            [keras.Input((8,)), Refuses(16, activation="relu"), keras.layers.Dropout(0.2), keras.layers.Dense(5)]
        )
        model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    return model


def values_of(model):
    """All of them: every worker has to call this."""
    return {f"{i} {each.path}": each.numpy() for i, each in enumerate([*model.variables, *model.optimizer.variables])}


def are_equal(one, other):
    pairs = zip(one.values(), other.values(), strict=True)
    return len(one) == len(other) and all(a.tobytes() == b.tobytes() and a.shape == b.shape for a, b in pairs)


def caught(act):
    try:
        act()
    except (CheckpointError, RuntimeError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


counted = []


def count(array):
    counted.append(array.nbytes)
    return array


@contextlib.contextmanager
def counting(owner, name, note):
    """The sizes of what a function returns inside the block, as ``note`` finds them."""
    original = getattr(owner, name)
    counted.clear()
    setattr(owner, name, lambda *args, **kwargs: note(original(*args, **kwargs)))
    try:
        yield counted
    finally:
        setattr(owner, name, original)


found = {}
model = made(1)
keras.utils.set_random_seed(3)
callbacks = [
    ModelCheckpoint(folder / "callback" / "{epoch}.weights.h5", save_weights_only=True),
    ModelCheckpoint(folder / "callback" / "{epoch}", save_weights_only=True),
    TensorBoard(folder / "logs", histogram_freq=1, profile_batch=0),
]
model.fit(x, x[:, :5], batch_size=8, epochs=2, verbose=0, callbacks=callbacks, resume=folder / "run")
trained = values_of(model)
kernel = raw_value(model.layers[0].kernel)
found["shards"] = [list(shard.data.shape) for shard in kernel.addressable_shards]

# Checkpoints: in parts, restored to the bit, in the foreground and in a thread.
with counting(_placement, "_replicate", lambda program: lambda array: count(program(array))) as gathered:
    path = Checkpoint(model=model, epoch=7).save(folder / "ckpt")
    gathered_bytes = sum(gathered)
other = made(2)
again = Checkpoint(model=other, epoch=0)
with counting(StoredArray, "read", lambda array: count(array)) as read:
    again.restore(path).assert_consumed()
state_bytes = sum(value.nbytes for value in trained.values())
found["gathered"], found["read"] = gathered_bytes / state_bytes, sum(read) / state_bytes
found["restored"] = are_equal(values_of(other), trained) and again.epoch == 7
found["sharded"] = not raw_value(other.layers[0].kernel).is_fully_replicated
third = made(3)
third.load_weights(folder / "callback" / "2")
found["weights folder"] = are_equal(dict(enumerate(third.get_weights())), dict(enumerate(model.get_weights())))
with CheckpointManager(again, folder / "managed", max_to_keep=1, background=True) as manager:
    for again.epoch in (8, 9):
        manager.save()
found["managed"] = [os.path.basename(each) for each in manager.checkpoints]

# Large values that every worker has are divided among them: here all that have at least two rows.
_pieces._MIN_DIVIDED_BYTES = 0
path = again.write(folder / "divided")
_pieces._MIN_DIVIDED_BYTES = 1 << 20
third = made(3)
Checkpoint(model=third, epoch=0).restore(path).assert_consumed()
found["divided"] = are_equal(values_of(third), trained)

# The run resumes where it ended, on the same mesh to the bit.
_resume._finished.clear()  # as in a process that is started again
resumed = made(4)
resumed.fit(x, x[:, :5], batch_size=8, epochs=2, verbose=0, resume=folder / "run")
found["resumed"] = are_equal(values_of(resumed), trained)

# Files that the chief writes.
model.save(folder / "model.keras")
model.save_weights(folder / "model.weights.h5")
if me == 0:
    np.savez(folder / "trained.npz", **trained)

# What goes wrong on one worker is raised on both, and leaves nothing.
write_part = _writer.write_part


def fail_here(rank):
    def write(*args):
        if me == rank:
            raise CheckpointError(f"no room on worker {rank}")
        write_part(*args)

    return write


for rank in (0, 1):
    _writer.write_part = fail_here(rank)
    found[f"part {rank}"] = caught(lambda: again.save(folder / "bad"))
    manager = CheckpointManager(again, folder / "bad-manager", background=True)
    manager.save()
    found[f"thread {rank}"] = caught(manager.wait)
    manager.wait()
_writer.write_part = write_part
_writer._VISIBLE_SECONDS, is_staged = 0.2, _writer.is_staged
if me == 1:
    _writer.is_staged = lambda path: False
found["not shared"] = caught(lambda: again.save(folder / "bad"))
_writer.is_staged = is_staged
model.layers[0].refuses = True
found["refused"] = caught(lambda: model.save(folder / "bad.keras"))
found["export"] = caught(lambda: model.export(folder / "exported"))
found["left"] = sorted(os.listdir(folder)) if me == 0 else []
found["good"] = caught(lambda: again.save(folder / "good"))
print("FOUND " + json.dumps(found), flush=True)
