"""Takes docs/images/report-restart.png and report-input.png: trains two runs, and photographs their reports.

```
.venv/bin/python docs/images/take_reports.py
```

Needs Chromium. In the first run, two workers train on MNIST and one of them is killed. The second one waits for a map
that runs in Python.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
WIDTH = 1000

TWO = """
import os
import signal
import threading

import unisono
import keras

keras.utils.set_random_seed(0)
(x, y), (x_test, y_test) = unisono.datasets.mnist()
strategy = unisono.MultiWorkerMirroredStrategy()
with strategy.scope():
    layers = [keras.layers.Rescaling(1 / 255), keras.layers.Flatten(), keras.layers.Dense(256, activation="relu")]
    model = keras.Sequential([*layers, keras.layers.Dense(10)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])


def kill_soon(epoch, logs):
    if epoch == 4 and strategy.cluster_resolver.task_id == 1 and os.environ["UNISONO_ATTEMPT"] == "0":
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGKILL)).start()


resume = unisono.Resume(policy=unisono.checkpoint.EverySeconds(5))
callback = keras.callbacks.LambdaCallback(on_epoch_begin=kill_soon)
test = (x_test, y_test)
model.fit(x, y, batch_size=128, epochs=12, validation_data=test, verbose=2, resume=resume, callbacks=[callback])
"""

SLOW = """
import numpy as np
import unisono
import keras


def augment(image, label):
    image = np.roll(image, np.random.default_rng(int(image.sum())).integers(-2, 3, 2), (0, 1))
    return np.asarray(image, "float32") / 255, label


(x, y), _ = unisono.datasets.mnist()
data = unisono.data.Dataset.from_tensor_slices((x, y)).shuffle(60_000, seed=1).map(augment).batch(128)
with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(data, epochs=10, verbose=2, resume="runs/slow")
"""


def take(page: Path, target: Path, height: int, *, dark: bool) -> None:
    """A picture of the first ``height`` pixels of a page."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise SystemExit("Install Chromium: it draws the pages.")
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDTH},{height}"]
    if dark:
        options += ["--blink-settings=preferredColorScheme=0"]
    subprocess.run([browser, *options, f"--screenshot={target}", page.as_uri()], check=True, capture_output=True)
    print(f"{target}: {target.stat().st_size / 1000:.0f} kB")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "two.py").write_text(TWO)
        (folder / "slow.py").write_text(SLOW)
        unisono = [str(Path(sys.executable).with_name("unisono"))]
        job = ["run", "-n", "2", "--max-restarts", "1", "--run-dir", "runs/two", "two.py"]
        subprocess.run([*unisono, *job], cwd=folder, check=True)
        subprocess.run([sys.executable, "slow.py"], cwd=folder, check=True)
        for run in ("two", "slow"):
            subprocess.run([*unisono, "report", f"runs/{run}"], cwd=folder, check=True)
        take(folder / "runs/two/report.html", FOLDER / "report-restart.png", 1595, dark=False)
        take(folder / "runs/slow/report.html", FOLDER / "report-input.png", 1612, dark=True)


if __name__ == "__main__":
    main()
