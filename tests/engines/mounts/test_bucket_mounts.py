"""Checkpoints on real mounts: one that refuses to rename a folder, and one of a bucket, which copies it file by file.

The first needs libfuse and the package mfusepy, the second needs rclone, and both need /dev/fuse and root.
"""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engines.conftest import RecordScenario
from tests.state.store.conftest import Child, child  # noqa: F401 (a fixture)
from tests.state.store.test_parts import NAMES, WHOLE, arrays_of
from tests.workers._job import finish, job
from unisono._src.state.store import CheckpointSeries, StagedParts, commit, load, write_part
from unisono._src.state.store._manifest import read_manifest

pytestmark = pytest.mark.engines

SCRIPT = Path(__file__).parent / "scripts" / "no_folder_renames.py"
TRAINING = Path(__file__).parents[2] / "training" / "scripts" / "remote_fit.py"
KINDS = {"no folder renames": "a mount that refuses to rename folders", "rclone": "rclone, a mount of a bucket"}

COMMIT_IN_A_LOOP = """
series = CheckpointSeries(Path(sys.argv[1]))
step = max(series.steps(), default=0)
print("going", flush=True)
while True:
    step += 1
    commit(series.path(step), arrays={"x": np.full((30, 1000), step)}, state=step, step=step)
    series.prune(2)
    commit(series.folder / "latest", arrays={"x": np.full(1000, step)}, state=step, step=step)
"""


def command(kind: str, source: Path, mounted: Path) -> list[str]:
    if kind == "rclone":
        if shutil.which("rclone") is None:
            pytest.skip("rclone is not installed (apt install rclone fuse3).")
        return ["rclone", "mount", ":memory:bucket", str(mounted)]
    if importlib.util.find_spec("mfusepy") is None:
        pytest.skip("mfusepy is not installed (pip install mfusepy).")
    return [sys.executable, str(SCRIPT), str(source), str(mounted)]


@pytest.fixture(params=KINDS)
def mounted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A mount, and what it is."""
    if os.getuid() or not os.path.exists("/dev/fuse") or shutil.which("fusermount3") is None:
        pytest.skip("Needs /dev/fuse, fuse3 and root.")
    source, folder = tmp_path / "source", tmp_path / "mounted"
    source.mkdir()
    folder.mkdir()
    with open(tmp_path / "log", "w") as log:
        process = subprocess.Popen(command(request.param, source, folder), stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while not os.path.ismount(folder):
            if process.poll() is not None:
                pytest.skip(f"It cannot be mounted here: {(tmp_path / 'log').read_text()[-300:]}")
            assert time.monotonic() < deadline, (tmp_path / "log").read_text()
            time.sleep(0.05)
        yield request.param, folder
    finally:
        subprocess.run(["fusermount3", "-u", "-z", str(folder)], check=False, timeout=60)
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(60)


def test_checkpoints_are_written_replaced_pruned_and_read(
    mounted: tuple[str, Path], record_scenario: RecordScenario
) -> None:
    kind, folder = mounted
    series = CheckpointSeries(folder / "runs" / "ckpt")
    for step in (1, 2, 3):
        commit(series.path(step), arrays=WHOLE, state=step, step=step)
        series.prune(keep=2)
    assert series.steps() == [2, 3]
    staged = StagedParts(series.path(3), NAMES)
    for part in (2, 0, 1):
        write_part(staged.path, part, 3, arrays_of(part))
    staged.commit(arrays=arrays_of(0), state="parts", step=3)
    for step in (2, 3):
        assert read_manifest(series.path(step)).version == 3
        loaded = load(series.path(step))
        assert {name: value.tobytes() for name, value in loaded.arrays.items()} == {
            name: value.tobytes() for name, value in WHOLE.items()
        }
    series.clear()
    assert os.listdir(series.folder) == []
    record_scenario(
        engine="bucket mounts",
        scenario=f"checkpoints on {KINDS[kind]}",
        result="detected, committed by the manifest, the bits as saved",
    )


def test_a_killed_writer_leaves_complete_checkpoints(
    mounted: tuple[str, Path],
    child: Child,  # noqa: F811
    record_scenario: RecordScenario,
) -> None:
    kind, folder = mounted
    draw, series, newest, num_kills = random.Random(16), CheckpointSeries(folder / "ckpt"), 0, 8
    for _ in range(num_kills):
        process: Any = child(COMMIT_IN_A_LOOP, series.folder)
        assert process.stdout.readline() == "going\n"
        time.sleep(draw.uniform(0.1, 0.5))
        process.kill()
        assert process.wait(60) == -signal.SIGKILL
        good, bad = series.load_newest_good()
        assert bad == []
        if good is not None:
            assert (good.arrays["x"] == good.step).all()
            assert good.step >= newest
            newest = good.step
        if newest > 1:
            assert load(series.folder / "latest").state in (newest, newest - 1)
    assert newest > 0
    commit(series.path(newest + 1), arrays={"x": np.zeros(3)}, step=newest + 1)
    series.prune(keep=1)
    names = sorted(path.name for path in series.folder.iterdir())
    assert names == ["latest", f"step-{newest + 1}"]
    record_scenario(
        engine="bucket mounts",
        scenario=f"a writer killed {num_kills} times on {KINDS[kind]}",
        result="every checkpoint that exists is complete, and the newest never goes back",
    )


@pytest.mark.timeout(600)
def test_a_training_that_is_killed_resumes_to_the_bit(
    mounted: tuple[str, Path], tmp_path: Path, record_scenario: RecordScenario
) -> None:
    kind, folder = mounted
    environment = {"PYTHONPATH": str(Path(__file__).parents[3])}
    for name, run, kill_at in (("whole", "none", 0), ("killed", folder / "run", 9), ("resumed", folder / "run", 0)):
        arguments = [str(run), str(tmp_path / f"{name}.npz"), str(kill_at)]
        with job(
            tmp_path, str(TRAINING), arguments, workers=1, environment=environment, variables=lambda rank, port: {}
        ) as workers:
            assert finish(workers, 180) == [-signal.SIGKILL if kill_at else 0], workers[0].output()
    assert "STEP 18" not in workers[0].output()  # it did not begin from the start
    with np.load(tmp_path / "whole.npz") as whole, np.load(tmp_path / "resumed.npz") as resumed:
        assert whole.files == resumed.files
        for each in whole.files:
            assert whole[each].tobytes() == resumed[each].tobytes(), each
    record_scenario(
        engine="bucket mounts",
        scenario=f"a training run killed with SIGKILL, its checkpoints on {KINDS[kind]}",
        result="resumed, bit-equal",
    )
