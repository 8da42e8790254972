"""-n MIN:MAX: workers that are lost permanently are left out."""

import json
import re
import socket

import pytest

from unisono_launch.launch._allocation import WorkerAllocator
from unisono_launch.launch._options import LaunchOptions, SizeRange, UsageError

pytestmark = pytest.mark.timeout(60)

HOST = socket.gethostname()

# Says how far it is, leaves a note of what it sees, and waits for the one that is going to die.
SEEN = """
    from unisono_launch.launch import write_status
    def reach(step):
        write_status(os.environ["UNISONO_STATUS"], "fit", step)
    def die():
        until(*(f"seen-{attempt}-{i}" for i in range(size)))
        os.kill(os.getpid(), signal.SIGKILL)
    Path(f"seen-{attempt}-{rank}").write_text(f"{size} {os.environ.get('CUDA_VISIBLE_DEVICES')}")
"""


def seen(folder, attempt: int) -> list[str]:
    """The number of workers and the GPUs, as each worker of an attempt saw them."""
    return [note.read_text() for note in sorted(folder.glob(f"seen-{attempt}-*"))]


@pytest.mark.slow
def test_a_worker_that_is_lost_twice_at_the_same_place_is_left_out(run, tmp_path):
    code, _, err = run(
        SEEN
        + """
    reach(5)
    if rank == 1 and size == 3:
        die()
    time.sleep(60 if size == 3 else 0)
    """,
        *("-n", "1:3"),
    )
    assert code == 0
    assert [len(seen(tmp_path, attempt)) for attempt in range(4)] == [3, 3, 2, 0]
    killed = f"unisono: worker 1 on {HOST} was killed by SIGKILL at step 5 (fit). All workers restart: attempt"
    left_out = (
        "unisono: worker 1 is left out from now on: it was lost in two successive attempts, and the job got no "
        "further in the second."
    )
    assert [line for line in err.splitlines() if "worker 1 " in line and "[" not in line] == [
        f"{killed} 1, 2 restarts left.",
        f"{killed} 2, 1 restart left.",
        left_out,
    ]
    assert re.search(r"^unisono: 2 workers, coordinator at 127\.0\.0\.1:\d+", err, re.MULTILINE)


# Which worker dies in each attempt, at which step, and how; and how many workers the last attempt has.
HISTORIES = {
    "further the second time": ([("die()", 1, 5), ("die()", 1, 6), ("", 0, 7)], [3, 3, 3]),
    "another one": ([("die()", 1, 5), ("die()", 2, 5), ("", 0, 7)], [3, 3, 3]),
    "a user error": ([("sys.exit(3)", 1, 5), ("sys.exit(3)", 1, 5), ("", 0, 7)], [3, 3, 3]),
    "preempted": ([("sys.exit(75)", 1, 5), ("sys.exit(75)", 1, 5), ("", 0, 7)], [3, 3, 3]),
    "one after the other": (
        [("die()", 1, 5), ("die()", 1, 5), ("die()", 0, 5), ("die()", 0, 4), ("", 0, 7)],
        [3, 3, 2, 2, 1],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("history", "sizes"),
    [
        pytest.param(*history, id=name, marks=[] if name in ("another one", "a user error") else pytest.mark.full)
        for name, history in HISTORIES.items()
    ],
)
def test_only_a_worker_that_is_lost_twice_without_progress_is_left_out(run, tmp_path, history, sizes):
    code, _, _ = run(
        SEEN
        + f"""
    how, culprit, step = {history!r}[attempt]
    reach(step)
    if rank == culprit:
        exec(how)
    time.sleep(60 if how else 0)
    """,
        *("-n", "1:3", "--max-restarts", "4", "--grace", "0.5"),
    )
    assert code == 0
    assert [len(seen(tmp_path, attempt)) for attempt in range(len(history))] == sizes


@pytest.mark.slow
def test_fewer_than_the_least_are_an_error(run, tmp_path):
    code, _, err = run(SEEN + "    if rank == 1: die()\n    time.sleep(60)", "-n", "2:3", "--max-restarts", "9")
    assert code == 69
    assert [len(seen(tmp_path, attempt)) for attempt in range(5)] == [3, 3, 2, 2, 0]
    assert err.endswith(
        "unisono: 1 worker can start here, 2 lost permanently, and -n 2:3 needs at least 2. "
        "To make do with fewer: -n 1:3\n"
    )


@pytest.mark.slow
def test_a_lost_worker_leaves_with_its_gpus(run, tmp_path):
    code, _, _ = run(
        SEEN
        + """
    if rank == 1 and size == 3:
        die()
    time.sleep(60 if size == 3 else 0)
    """,
        *("-n", "1:3"),
        env={"CUDA_VISIBLE_DEVICES": "4,5,6"},
    )
    assert code == 0
    assert seen(tmp_path, 0) == ["3 4", "3 5", "3 6"]
    assert seen(tmp_path, 2) == ["2 4", "2 6"]


def test_without_restarts_nothing_starts_again(run, tmp_path):
    code, _, _ = run(SEEN + "    if rank == 1: die()", "-n", "1:2", "--max-restarts", "0")
    assert code == 69
    assert not seen(tmp_path, 1)


@pytest.mark.parametrize(
    ("span", "gpus", "shares"),
    [
        (SizeRange(1, 4), 4, ["0", "1", "2", "3"]),
        (SizeRange(1, 3), 4, ["0", "1", "2"]),
        (SizeRange(1, 2), 4, ["0,1", "2,3"]),
        (SizeRange(1, 2), 5, ["0,1", "2,3"]),
        (SizeRange(2, 8), 3, ["0", "1", "2"]),
    ],
)
def test_each_worker_gets_the_largest_equal_number_of_gpus(tmp_path, span, gpus, shares):
    assert shared(allocator_with(tmp_path, span, gpus)) == shares


def test_devices_are_looked_for_before_every_attempt(tmp_path):
    allocator = allocator_with(tmp_path, SizeRange(2, 4), 4)
    assert shared(allocator) == ["0", "1", "2", "3"]
    (tmp_path / "dev/nvidia3").unlink()
    assert shared(allocator) == ["0", "1", "2"]
    (tmp_path / "dev/nvidia3").touch()
    assert shared(allocator) == ["0", "1", "2", "3"]
    for number in (1, 2, 3):
        (tmp_path / f"dev/nvidia{number}").unlink()
    with pytest.raises(UsageError, match=r"1 worker can start here with 1 GPUs, and -n 2:4 needs at least 2\."):
        allocator.allocate()
    (tmp_path / "dev/nvidia0").unlink()
    with pytest.raises(UsageError, match="0 workers can start here with 0 GPUs"):
        allocator.allocate()


def test_gpus_that_were_named_and_are_gone_are_left_out(tmp_path):
    allocator = allocator_with(tmp_path, SizeRange(1, 4), 4, devices="gpu:3,2,0")
    assert shared(allocator) == ["3", "2", "0"]
    (tmp_path / "dev/nvidia3").unlink()
    assert shared(allocator) == ["2", "0"]


def test_lost_workers_are_forgotten_when_the_gpus_differ(tmp_path):
    """Their numbers are positions among those that are visible."""
    allocator = allocator_with(tmp_path, SizeRange(1, 4), 4)
    devices, size = allocator.allocate()
    allocator.exclude(1, devices, size)
    assert shared(allocator) == ["0", "2", "3"]
    (tmp_path / "dev/nvidia3").unlink()
    assert shared(allocator) == ["0", "1", "2"]


def test_too_few_devices_at_the_start_are_an_error_before_anything_starts(run):
    code, _, err = run("", "-n", "3:4", env={"CUDA_VISIBLE_DEVICES": "0,1"})
    assert code == 2
    assert err == (
        "unisono run: 2 workers can start here with 2 GPUs, and -n 3:4 needs at least 3. "
        "To make do with fewer: -n 2:4\n"
    )


def test_several_machines_of_a_cluster_have_fixed_numbers_of_workers(run):
    cluster = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}
    code, _, err = run("", "-n", "1:2", env={"TF_CONFIG": json.dumps(cluster)})
    assert code == 2
    assert "TF_CONFIG names 2 machines, each with the same number of workers. Give one, as in -n 2" in err


def allocator_with(root, wanted: SizeRange, gpus: int, devices: str = "auto") -> WorkerAllocator:
    (root / "dev").mkdir()
    for number in range(gpus):
        (root / f"dev/nvidia{number}").touch()
    return WorkerAllocator(LaunchOptions(program=("-m", "module"), num_workers=wanted, devices=devices), {}, root)


def shared(allocator: WorkerAllocator) -> list[str]:
    """The GPUs of each worker."""
    devices, size = allocator.allocate()
    return [devices.variables(rank, size, {})["CUDA_VISIBLE_DEVICES"] for rank in range(size)]
