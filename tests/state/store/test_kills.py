"""Real processes, killed: whatever is listed afterwards is complete, and the next one resumes from there."""

import os
import random
import re
import signal
import time

import pytest

from unisono._src.state.store import CheckpointSeries, commit, load

pytestmark = pytest.mark.slow

COMMIT_IN_A_LOOP = """
series, writer = CheckpointSeries(Path(sys.argv[1])), BackgroundWriter()
step = max(series.steps(), default=0)
print("going", flush=True)
while True:
    step += 1
    def job(step=step):
        commit(series.path(step), arrays={"x": np.full((30, 1000), step), "y": np.int64(step)}, state=step, step=step)
        series.prune(3, spare={1})
        commit(series.folder / "latest", arrays={"x": np.full(1000, step)}, state=step, step=step)
    writer.start(job)
    if sys.argv[2] == "wait":
        writer.wait()
"""


def assert_all_is_well(series: CheckpointSeries) -> None:
    """Every listed checkpoint is good, and nothing else is listed."""
    for name in os.listdir(series.folder) if series.folder.exists() else ():  # not if it was killed before it began
        assert re.fullmatch(r"step-\d+|latest", name)
        stored = load(series.folder / name)
        assert stored.state == stored.step
        assert (stored.arrays["x"] == stored.step).all()
    good, bad = series.load_newest_good()
    assert bad == []
    if series.steps():
        assert good is not None
        assert 1 in series.steps()


def kill_at_random(tmp_path, child, num_kills: int, seed: int) -> None:
    draw = random.Random(seed)
    series = CheckpointSeries(tmp_path / "ckpt")
    newest = 0
    for _ in range(num_kills):
        process = child(COMMIT_IN_A_LOOP, series.folder, draw.choice(["wait", "behind"]))
        assert process.stdout.readline() == "going\n"
        time.sleep(draw.uniform(0, 0.2))
        process.kill()
        assert process.wait(60) == -signal.SIGKILL
        assert_all_is_well(series)
        assert max(series.steps(), default=0) >= newest
        newest = max(series.steps(), default=0)
    assert newest > num_kills  # else no kill was in the midst of things
    commit(series.path(newest + 1), arrays={}, step=newest + 1)
    assert os.listdir(tmp_path) == ["ckpt"]


def test_killed_at_random_moments_it_resumes_from_complete_checkpoints(tmp_path, child):
    kill_at_random(tmp_path, child, num_kills=10, seed=6)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10))
def test_killed_a_hundred_times_it_resumes_from_complete_checkpoints(tmp_path, child, seed):
    kill_at_random(tmp_path, child, num_kills=10, seed=seed)


KILLED_AT = {
    "after the arrays": """
import unisono._src.state.store._commit as module
save = module.save_file
def save_and_die(*arguments):
    save(*arguments)
    die()
module.save_file = save_and_die
""",
    "after the manifest": """
import unisono._src.state.store._renamed_folder as module
module.sync_folder = die
""",
    "before the rename": "os.rename = die",
    "after the rename": """
rename = os.rename
def rename_and_die(*arguments):
    rename(*arguments)
    die()
os.rename = rename_and_die
""",
    "before an exchange": """
import unisono._src.state.store._replace as module
module.swap_names = die
""",
    "after an exchange": """
import unisono._src.state.store._replace as module
exchange = module.swap_names
def exchange_and_die(*arguments):
    exchange(*arguments)
    die()
module.swap_names = exchange_and_die
""",
    "before deleting": """
import shutil
shutil.rmtree = die
""",
    "within deleting": """
import shutil
def delete_some_and_die(path, **options):
    for file in path.rglob("manifest.json"):
        file.unlink()
    die()
shutil.rmtree = delete_some_and_die
""",
    "before removing the lock": "os.unlink = die",
    "between two moves": """
import unisono._src.state.store._replace as module
module.swap_names = lambda *arguments: False  # as on NFS
rename = os.rename
def rename_and_die(*arguments):
    rename(*arguments)
    die()
os.rename = rename_and_die
""",
}

# What the process does, the steps and the size of the array of step 2 if it is killed before the decisive moment, and
# the same for after it.
COMMIT = ("commit(series.path(3), arrays={'x': np.full(100, 3)}, state=3, step=3)", ([1, 2], 100), ([1, 2, 3], 100))
REPLACE = ("commit(series.path(2), arrays={'x': np.full(50, 2)}, state=2, step=2)", ([1, 2], 100), ([1, 2], 50))
REMOVE = ("remove(series.path(1))", ([1, 2], 100), ([2], 100))
PRUNE = ("series.prune(1)", ([1, 2], 100), ([2], 100))

BEFORE = [
    *((deed, moment) for deed in (COMMIT, REPLACE) for moment in ("after the arrays", "after the manifest")),
    *((deed, "before the rename") for deed in (COMMIT, REPLACE, REMOVE, PRUNE)),
    (REPLACE, "before an exchange"),
]
AFTER = [
    *((deed, "after the rename") for deed in (COMMIT, REMOVE, PRUNE)),
    *((REPLACE, moment) for moment in ("after an exchange", "between two moves")),
    *(
        (deed, moment)
        for deed in (COMMIT, REPLACE, REMOVE, PRUNE)
        for moment in ("before deleting", "within deleting", "before removing the lock")
    ),
]
TABLE = [(code, moment, before) for (code, before, _), moment in BEFORE]
TABLE += [(code, moment, after) for (code, _, after), moment in AFTER]


@pytest.mark.parametrize(
    ("code", "moment", "expected"), TABLE, ids=[f"{code.split('(')[0]} {at}" for code, at, _ in TABLE]
)
def test_killed_at_the_worst_moments_it_leaves_complete_checkpoints(tmp_path, child, code, moment, expected):
    series = CheckpointSeries(tmp_path / "runs" / "ckpt")
    process = child(
        f"""
series = CheckpointSeries(Path(sys.argv[1]))
for step in (1, 2):
    commit(series.path(step), arrays={{"x": np.full(100, step)}}, state=step, step=step)
def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
{KILLED_AT[moment]}
{code}
""",
        series.folder,
    )
    _, errors = process.communicate(timeout=60)
    assert errors == ""
    assert process.returncode == -signal.SIGKILL
    for name in os.listdir(series.folder) if series.folder.exists() else ():  # not if it was killed before it began
        assert re.fullmatch(r"step-\d", name)
        stored = load(series.folder / name)
        assert stored.state == stored.step
    # The next one finds nothing in its way, and clears up.
    good, bad = series.load_newest_good()
    assert good is not None
    assert (good.step, bad) == (expected[0][-1], [])
    assert (series.steps(), len(load(series.path(2)).arrays["x"])) == expected
    commit(series.path(9), arrays={}, step=9)
    assert os.listdir(series.folder.parent) == ["ckpt"]
    assert os.listdir(tmp_path) == ["runs"]


def test_a_replacement_killed_between_its_two_moves_is_completed_by_the_next_load(tmp_path, child):
    folder = tmp_path / "ckpt" / "latest"
    commit(folder, arrays={}, state="old")
    code = "def die():\n    os.kill(os.getpid(), signal.SIGKILL)\n" + KILLED_AT["between two moves"]
    # The first checkpoint tries out whether folders can be renamed.
    code = "commit(Path(sys.argv[1]).with_name('first'), arrays={})\n" + code
    process = child(f"{code}\ncommit(Path(sys.argv[1]), arrays={{}}, state='new')", folder)
    assert process.wait(60) == -signal.SIGKILL
    assert not folder.exists()
    assert load(folder).state == "new"
    assert os.listdir(tmp_path) == ["ckpt"]
