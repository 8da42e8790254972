"""The blocks of docs/ray.md that need Ray."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.engines.ray.conftest import StartDriver

pytestmark = [pytest.mark.engines, pytest.mark.timeout(600)]

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = ROOT / "docs" / "ray.md"

# What the page leaves to readers: their data and model, their machines. Each text must be on the page.
SETUP: Final = """<!-- setup:
import keras
import numpy as np

def make_model(strategy):
    with strategy.scope():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(10)])
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model

def read_batches():
    rows = np.ones((64, 3), "float32"), np.zeros(64, "int32")
    return unisono.data.Dataset.from_tensor_slices(rows).batch(32)
-->
```python
import ray.train
"""
FILLED_IN: Final = {
    "```python\nimport ray.train\n": SETUP,
    "use_gpu=True": "use_gpu=False",
    "    ...\n\n\ntrainer": "    model.fit(read_batches())\n\n\ntrainer",
    "    ...\n    model.fit(dataset, epochs=3": (
        "    model = make_model(unisono.MultiWorkerMirroredStrategy())\n    model.fit(dataset, epochs=3"
    ),
    'read_parquet("/shared/train")})\n': (
        'read_parquet("/shared/train")})\nassert trainer.fit().error is None\n'  # not on the page
    ),
    "model.fit(dataset, epochs=10, resume=True, callbacks=[unisono.ray.ReportCallback()])\n": """\
def train_loop(config):
    model, dataset = make_model(unisono.MultiWorkerMirroredStrategy()), read_batches()
    model.fit(dataset, epochs=2, resume=True, callbacks=[unisono.ray.ReportCallback()])


trainer = unisono.ray.Trainer(
    train_loop, run_config=ray.train.RunConfig(name="reports", storage_path="/shared/runs"), train_loop_config={}
)
model = make_model(unisono.OneDeviceStrategy("cpu:0"))
""",
    '"lr": ray.tune.grid_search([1e-4, 1e-2])})\n': (
        '"lr": ray.tune.grid_search([1e-4, 1e-2])})\nassert not tuner.fit().errors\n'
    ),
}

RUN: Final = """
import sys
from pathlib import Path
import pyarrow
import pyarrow.parquet
from tests.docs.run_page import run_page

page, folder, rows = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
rows.mkdir(parents=True)
pyarrow.parquet.write_table(pyarrow.table({"x": [[1.0, 2.0, 3.0]] * 64, "y": [0] * 64}), rows / "rows.parquet")
print("blocks:", run_page(page, folder, full=True))
"""


def test_the_blocks_of_the_page_run(start_driver: StartDriver, tmp_path: Path) -> None:
    text, number = re.subn(r"<!-- not run: needs Ray, .*-->\n", "", PAGE.read_text(encoding="utf-8"))
    assert number == 5
    for on_the_page, filled_in in FILLED_IN.items():
        assert text.count(on_the_page) == 1, on_the_page
        text = text.replace(on_the_page, filled_in)
    page, folder, shared = tmp_path / "ray.md", tmp_path / "folder", tmp_path / "shared"
    page.write_text(text.replace('"/shared', f'"{shared}'), encoding="utf-8")
    folder.mkdir()
    command = [sys.executable, "-u", "-c", RUN, str(page), str(folder), str(shared / "train")]
    driver = start_driver(command, environment={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)})
    assert driver.finish(500) == 0, driver.output()
    assert f"blocks: {number}" in driver.output()
