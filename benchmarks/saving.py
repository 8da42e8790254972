"""What does checkpointing cost? `fit` with and without `resume=`, alternating in one process.

```
saving.py                       a model of 100 MB, a checkpoint every 30 s, three rounds of about a minute each
saving.py --seconds 10 --rounds 1
saving.py --markdown            the table from the last measurement
```

A round is one epoch that lasts twice the interval, so that with `resume=` it includes the first checkpoint of a run and
at least one more. The time of the epoch is compared. With Adam a model of 100 MB has checkpoints of 300 MB.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import unisono  # isort: skip  (before keras)
import jax
import keras
import numpy as np

from unisono import Resume
from unisono.checkpoint import EverySeconds

RESULTS = Path(__file__).parent / "results"
BATCH = 64
TARGET = 1.02


class Clock(keras.callbacks.Callback):
    """How long the epoch took."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._began = time.perf_counter()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.seconds = time.perf_counter() - self._began


def new_model() -> Any:
    """About 24 million weights: 97 MB."""
    with unisono.MirroredStrategy().scope():
        layers = [keras.layers.Dense(units, activation="relu") for units in (4096, 4096, 1024)]
        model = keras.Sequential([keras.Input((784,)), *layers, keras.layers.Dense(10)])
        model.compile(
            keras.optimizers.Adam(1e-4),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    return model


def seconds_of(model: Any, data: Any, steps: int, resume: Resume | None) -> float:
    """One epoch of so many steps."""
    clock = Clock()
    model.fit(data, steps_per_epoch=steps, epochs=1, verbose=0, callbacks=[clock], resume=resume)
    return clock.seconds


def measure(interval: float, rounds: int, folder: Path) -> dict[str, Any]:
    """Alternating rounds: their times, and facts about the machine and the checkpoints."""
    random = np.random.default_rng(0)
    x, y = random.random((8192, 784), "float32"), random.integers(0, 10, 8192).astype("int32")
    data = unisono.data.Dataset.from_tensor_slices((x, y)).shuffle(8192).repeat().batch(BATCH)
    model = new_model()
    seconds_of(model, data, 64, None)  # compiles
    per_step = seconds_of(model, data, 64, None) / 64
    steps = max(int(2.1 * interval / per_step), 64)
    print(f"{per_step * 1e3:.1f} ms per step, {steps} steps per round", file=sys.stderr)
    found: dict[str, list[float]] = {"plain": [], "saving": []}
    saves = 0
    for number in range(rounds):
        resume = Resume(folder / f"{number}", policy=EverySeconds(interval))
        pair = [("plain", None), ("saving", resume)]
        for name, each in pair if number % 2 == 0 else reversed(pair):
            found[name].append(seconds_of(model, data, steps, each) / steps)
            print(f"round {number}: {name} {found[name][-1] * 1e3:.2f} ms per step", file=sys.stderr)
        newest = max((folder / f"{number}" / "checkpoints" / "fit-1").iterdir(), key=lambda path: int(path.name[5:]))
        saves = int(newest.name[5:])
        size = sum(file.stat().st_size for file in newest.iterdir())
        shutil.rmtree(folder / f"{number}")
    ratios = [saving / plain for saving, plain in zip(found["saving"], found["plain"], strict=True)]
    return {
        "interval_s": interval,
        "weights_mb": round(sum(weight.nbytes for weight in model.get_weights()) / 1e6),
        "saved_mb": round(size / 1e6),
        "saves_a_round": saves - 1,  # the last one is written after the epoch
        "plain_ms": [each * 1e3 for each in found["plain"]],
        "saving_ms": [each * 1e3 for each in found["saving"]],
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "measured": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "device": str(jax.devices()[0].device_kind),
        "cores": os.cpu_count(),
        "about": {"jax": jax.__version__, "keras": keras.__version__, "python": platform.python_version()},
    }


def markdown(results: list[dict[str, Any]]) -> str:
    """The table."""
    lines = [
        "| device | model | saved | every | ms per step, plain | ms per step, saving | ratio (median) |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in results:
        plain, saving = (statistics.median(each[name]) for name in ("plain_ms", "saving_ms"))
        lines.append(
            f"| {each['device']} | {each['weights_mb']} MB | {each['saved_mb']} MB | {each['interval_s']:g} s "
            f"| {plain:.2f} | {saving:.2f} | {each['ratio']:.3f} |"
        )
    return "\n".join([*lines, "", *map(_caption, results)])


def _caption(result: dict[str, Any]) -> str:
    versions = ", ".join(f"{what} {version}" for what, version in sorted(result["about"].items()))
    return f"- {result['device']}: {len(result['ratios'])} rounds; {result['cores']} cores; {versions}; " + result.get(
        "measured", "date not saved"
    )


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="between checkpoints (30)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is run (3)")
    parser.add_argument("--save", action="store_true", help="use results/saved/, which is committed, not results/")
    parser.add_argument("--markdown", action="store_true", help="measure nothing; print the stored results")
    parser.add_argument("--check", action="store_true", help=f"exit with 1 if the ratio is above {TARGET}")
    arguments = parser.parse_args()
    stored = RESULTS / "saved" if arguments.save else RESULTS
    if arguments.markdown:
        print(markdown([json.loads(path.read_text()) for path in sorted(stored.glob("saving-*.json"))]))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        result = measure(arguments.seconds, arguments.rounds, Path(folder))
    stored.mkdir(parents=True, exist_ok=True)
    (stored / f"saving-{jax.devices()[0].platform}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(markdown([result]))
    return int(arguments.check and result["ratio"] > TARGET)


if __name__ == "__main__":
    sys.exit(main())
