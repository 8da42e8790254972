"""Two workers, one of which is killed: the job is restarted, and its weights are those of a job that was left alone.

    python examples/worker_killed.py      # starts `unisono run -n 2` twice; the workers run `train` below

The workers are processes of this machine here. On several machines the same `train` is started by the engine that owns
them (docs/launch.md).

Output:

    unisono: 2 workers, coordinator at 127.0.0.1:24466 (one machine). Logs: runs/worker-killed-example/killed/…
    [worker 0] Epoch 1/2
    unisono: worker 1 on … was killed by SIGKILL. All workers restart: attempt 1, 0 restarts left.
    [worker 0] Training resumes with epoch 1; restored …/runs/worker-killed-example/killed/checkpoints/fit-1/save-1.
    [worker 0] Epoch 1/2
    [worker 0] 235/235 - 29s - 125ms/step - accuracy: 0.8833 - loss: 0.4142
    [worker 0] Epoch 2/2
    [worker 0] 235/235 - 9s - 37ms/step - accuracy: 0.9457 - loss: 0.1892
    unisono: 2 workers, coordinator at 127.0.0.1:27409 (one machine). Logs: runs/worker-killed-example/undisturbed/…
    [worker 0] Epoch 1/2
    [worker 0] 235/235 - 33s - 138ms/step - accuracy: 0.8833 - loss: 0.4142
    [worker 0] Epoch 2/2
    [worker 0] 235/235 - 11s - 45ms/step - accuracy: 0.9457 - loss: 0.1892
    The weights of both jobs are equal to the bit.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

RUNS = Path("runs/worker-killed-example")


def train(folder):
    """What each worker runs."""
    import unisono  # before keras: it selects Keras's JAX backend

    strategy = unisono.MultiWorkerMirroredStrategy()  # connects to the other worker
    import keras

    (folder / f"worker-{strategy.cluster_resolver.task_id}.pid").write_text(str(os.getpid()))
    keras.utils.set_random_seed(0)
    (x, y), _ = unisono.datasets.mnist()
    with strategy.scope():
        hidden = [keras.layers.Dense(256, activation="relu"), keras.layers.Dropout(0.2)]
        model = keras.Sequential(
            [keras.layers.Rescaling(1 / 255), keras.layers.Flatten(), *hidden, keras.layers.Dense(10)]
        )
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, metrics=["accuracy"])
    resume = unisono.Resume(folder, policy=unisono.checkpoint.EverySteps(50))
    model.fit(x, y, batch_size=256, epochs=2, verbose=2, resume=resume)
    if strategy.cluster_resolver.task_id == 0:
        np.savez(folder / "weights.npz", *model.get_weights())


def start_job(folder):
    command = [sys.executable, "-m", "unisono_launch", "run", "-n", "2", "--max-restarts", "1", "--run-dir", folder]
    return subprocess.Popen([*map(str, command), __file__, str(folder)])


def kill_worker(job, folder):
    """Kills worker 1 without notice, as the kernel does when memory runs out, once there is a checkpoint."""
    while not list(folder.glob("checkpoints/fit-1/save-*")):
        if job.poll() is not None:
            sys.exit(job.returncode)  # it has said why
        time.sleep(0.1)
    os.kill(int((folder / "worker-1.pid").read_text()), signal.SIGKILL)


def main():
    shutil.rmtree(RUNS, ignore_errors=True)
    with start_job(RUNS / "killed") as job:
        kill_worker(job, RUNS / "killed")
    assert job.returncode == 0
    with start_job(RUNS / "undisturbed") as job:
        pass
    assert job.returncode == 0
    killed, undisturbed = (np.load(RUNS / name / "weights.npz") for name in ("killed", "undisturbed"))
    equal = all(np.array_equal(killed[name], undisturbed[name]) for name in undisturbed)
    print("The weights of both jobs are", "equal to the bit." if equal else "different.")


if __name__ == "__main__":
    train(Path(sys.argv[1])) if sys.argv[1:] else main()
