"""A small training with checkpoints, and the fault that strikes it: FOLDER.

Two variables of the environment hold JSON: FAULTS_JOB says what is trained (`Job` in _jobs.py), FAULTS_FAULT what
happens to it (`Fault` in _cells.py). In FOLDER it writes

    steps.jsonl   a line for each start of a process, and for each beginning and end of a call of steps
    log.csv       Keras's CSVLogger
    result.npz    by the chief: weights, optimizer and history, when all is done
    struck        empty: the fault has struck, and does so only once
"""

import contextlib
import json
import os
import resource
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import unisono  # isort: skip  (before keras)
import keras
import numpy as np
from jax.stages import Lowered
from safetensors.numpy import save

from unisono._src.state.checkpoint import CheckpointWriter
from unisono._src.state.store import _commit
from unisono._src.training import Resume, _programs, _training_state
from unisono.checkpoint import EverySeconds, EverySteps

FOLDER, JOB = Path(sys.argv[1]), SimpleNamespace(**json.loads(os.environ["FAULTS_JOB"]))
RUN = Path(os.environ.get("UNISONO_RUN_DIR", FOLDER / "run"))
PROCESS = int(os.environ.get("RANK", 0))
BATCH, STEPS = 8, 8  # of an epoch
FILE_BYTES = 40_000  # a file of arrays has 80,000


def note(*words: object) -> None:
    """A line of this process. Those of several processes do not mix, and none is lost with its process."""
    log = os.open(FOLDER / "steps.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, (json.dumps([PROCESS, *words]) + "\n").encode())
    os.close(log)


def note_start() -> None:
    """With the step of the newest checkpoint, which is read without Unisono."""
    manifests = (json.loads(path.read_text()) for path in RUN.glob("checkpoints/fit-1/save-*/manifest.json"))
    note("start", max((manifest["body"]["step"] for manifest in manifests), default=None))


def wait_for(condition, what: str) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        if time.monotonic() > deadline:
            note("fail", f"waited without success for {what}")
            os._exit(3)
        time.sleep(0.01)


def fill_disk(leave: int = 0) -> None:
    """From now on no more than `leave` bytes can be written to the run folder.

    That is a small disk of its own; where none could be had, the system limits the size of this process's files.
    """
    if not os.path.ismount(RUN):
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        return
    with open(RUN / "ballast", "ab", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(bytes(4096))
    os.truncate(RUN / "ballast", max(0, os.path.getsize(RUN / "ballast") - leave))


class StruckError(Exception):
    """The fault that is an exception."""


class Fault:
    """Strikes once in the life of a job: at one moment, in one of its processes."""

    after = 11  # steps: so that there is something to lose. Compiling and the first validation are before that

    def __init__(self, kind: str, moment: str, victim: str) -> None:
        self.kind, self.moment, self.victim = kind, moment, victim
        self._is_here = int(victim.endswith("worker 1")) == PROCESS

    def at(self, moment: str) -> None:
        """The process is at this moment now."""
        if self.is_due(moment):
            self.strike()

    def is_due(self, moment: str) -> bool:
        """Whether this is the moment. It is so once: the caller has to let it strike."""
        if not self._is_here or moment != self.moment:
            return False
        try:
            os.close(os.open(FOLDER / "struck", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def strike(self) -> None:
        if self.kind == "exception":
            raise StruckError(f"{self.moment}, on purpose")
        if self.kind == "full disk":
            fill_disk()
        else:
            self._send(signal.Signals[self.kind])

    def _send(self, number: signal.Signals) -> None:
        notice = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)  # that of a `fit` with checkpoints
        os.kill(os.getppid() if self.victim == "launcher" else os.getpid(), number)
        if number == signal.SIGSTOP and self.victim != "launcher":
            time.sleep(1)  # it stops a moment later, and not beyond this one
        if number == signal.SIGKILL:
            wait_for(lambda: False, "the end of this process")
        if number == signal.SIGTERM:
            wait_for(lambda: getattr(notice, "received", False), "SIGTERM")


class Moments:
    """Wraps the functions in which the moment of a fault comes. Callbacks find the other moments."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self._building = ""  # the kind of program
        self._saving = 0  # the step of the checkpoint that is being written
        for owner, name, replacement in (
            (_programs, "build_program", self._build),
            (Lowered, "compile", self._compile),
            (_training_state.TrainingState, "arrays", self._copy),
            (CheckpointWriter, "start", self._start),
            (_commit, "save_file", self._save_file),
            (os, "rename", self._rename),
            (shutil, "rmtree", self._rmtree),
        ):
            setattr(owner, name, self._around(getattr(owner, name), replacement))

    @staticmethod
    def _around(original, replacement):
        return lambda *args, **kwargs: replacement(original, *args, **kwargs)

    @property
    def _late(self) -> bool:
        return self._saving > self._fault.after

    def _build(self, build, model, kind, *args):
        self._building = kind
        return build(model, kind, *args)

    def _compile(self, compile_, *args, **kwargs):
        if self._building != "train" or not self._fault.is_due("compiling"):
            return compile_(*args, **kwargs)
        if self._fault.kind == "exception":
            compile_(*args, **kwargs)
            self._fault.strike()
        while_it_runs = threading.Timer(0.02, self._fault.strike)  # it takes longer than that
        while_it_runs.start()
        compiled = compile_(*args, **kwargs)
        while_it_runs.join()
        return compiled

    def _copy(self, arrays_of, training):
        arrays = arrays_of(training)
        if training.step > self._fault.after:
            self._fault.at("copying")
        return arrays

    def _start(self, start, writer, snapshot, step, *args, **kwargs):
        self._saving = step
        start(writer, snapshot, step, *args, **kwargs)

    def _save_file(self, save_file, arrays, path):
        data = save(arrays)
        if self._late and self._fault.is_due("writing"):
            if self._fault.kind != "full disk":
                Path(path).write_bytes(data[: len(data) // 2])
            self._fault.strike()
        if (RUN / "ballast").exists():  # what filled the disk also takes what the deletion of old checkpoints has freed
            fill_disk(leave=len(data) // 2)
        save_file(arrays, path)

    def _rename(self, rename, source, target, **kwargs):
        gives_name = self._late and Path(target).parent.name == "fit-1"
        if gives_name:
            self._fault.at("before the rename")
        rename(source, target, **kwargs)
        if gives_name:
            self._fault.at("after the rename")

    def _rmtree(self, rmtree, path, *args, **kwargs):
        old = list(Path(path).glob("save-*/*"))
        if old and self._late and self._fault.is_due("deleting"):
            old[0].unlink()
            self._fault.strike()
        rmtree(path, *args, **kwargs)


class Steps(keras.callbacks.Callback):
    """Writes down the steps, and knows the moments that callbacks see."""

    def __init__(self, fault: Fault | None) -> None:
        super().__init__()
        self._fault = fault

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def on_train_batch_begin(self, batch, logs=None):
        self._first = self._epoch * STEPS + batch
        note("begin", self._first)

    def on_train_batch_end(self, batch, logs=None):
        last = self._epoch * STEPS + batch
        time.sleep(JOB.step_seconds * (last - self._first + 1))
        note("end", last)
        if last + 1 >= Fault.after:
            self._at("in a step")

    def on_test_batch_end(self, batch, logs=None):
        self._at("in validation")

    def on_train_end(self, logs=None):
        self._at("at the end of training")

    def _at(self, moment: str) -> None:
        if self._fault:
            self._fault.at(moment)


def made_strategy():
    if JOB.workers == 1:
        return unisono.MirroredStrategy(["cpu:0", "cpu:1"])
    if JOB.shard == "mesh":
        return unisono.ModelParallelStrategy({"batch": 1, "model": JOB.workers})
    if JOB.shard:
        return unisono.FullyShardedStrategy(shard={"zero1": "optimizer", "zero3": "all"}[JOB.shard])
    return unisono.MultiWorkerMirroredStrategy()


def made_model(strategy) -> keras.Model:
    with strategy.scope():
        model = keras.Sequential(
            [
                keras.Input((20,)),
                keras.layers.Dense(256, activation="relu"),
                keras.layers.Dropout(0.3),
                keras.layers.Dense(4),
            ]
        )
        model.compile(
            keras.optimizers.Adam(0.01),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
            steps_per_execution=JOB.steps_per_call,
        )
    return model


def made_input(x, y) -> dict[str, object]:
    if JOB.data == "arrays":
        return {"x": x, "y": y, "batch_size": BATCH}
    rows = unisono.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x))
    if JOB.data == "rows":
        return {"x": rows.map(lambda x, y: (x * 2, y)).batch(BATCH)}
    return {"x": rows.repeat().filter(lambda x, y: x[0] > -1).batch(BATCH), "steps_per_epoch": STEPS}


def main() -> None:
    note_start()
    settings = json.loads(os.environ["FAULTS_FAULT"])
    fault = Fault(**settings) if settings else None
    if fault:
        Moments(fault)
    keras.utils.set_random_seed(11)
    model = made_model(made_strategy())
    rng = np.random.default_rng(0)
    x = rng.normal(size=(BATCH * STEPS - 3, 20)).astype("float32")  # the last batch of a pass is short
    y = rng.integers(0, 4, len(x))
    policy = {"steps": EverySteps, "seconds": EverySeconds}.get(JOB.save_by)
    history = model.fit(
        **made_input(x, y),
        validation_data=(x[:32], y[:32]),
        validation_batch_size=BATCH,
        epochs=JOB.epochs,
        verbose=0,
        callbacks=[
            Steps(fault),
            keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=1.0),
            keras.callbacks.CSVLogger(str(FOLDER / "log.csv")),
        ],
        resume=Resume(RUN, policy=policy(JOB.save_every)) if policy else None,
    )
    if fault:
        fault.at("at exit")
    variables = [*model.variables, *model.optimizer.variables]
    arrays = {f"{number} {variable.path}": np.asarray(variable) for number, variable in enumerate(variables)}
    if PROCESS == 0:
        np.savez(FOLDER / "part.npz", history=np.array(json.dumps([history.epoch, history.history])), **arrays)
        os.replace(FOLDER / "part.npz", FOLDER / "result.npz")
    note("done")


main()
