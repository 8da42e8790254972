"""Nothing of a job outlives its launcher."""

import os
import signal
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked up in /proc"),
]

# A child like any other, one that left the worker's session, and one that lost the mark in its environment.
WITH_CHILDREN = """
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    children = [
        subprocess.Popen(sleeper),
        subprocess.Popen(sleeper, start_new_session=True),
        subprocess.Popen(sleeper, env={}),
    ]
    Path(f"pids-{rank}.new").write_text(" ".join(str(pid) for pid in [os.getpid(), *(c.pid for c in children)]))
    Path(f"pids-{rank}.new").rename(f"pids-{rank}")
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def pids(folder: Path) -> list[int]:
    return [int(pid) for rank in (0, 1) for pid in (folder / f"pids-{rank}").read_text().split()]


def assert_all_gone(found: list[int], within: float) -> None:
    deadline = time.monotonic() + within
    while left := [pid for pid in found if alive(pid)]:
        assert time.monotonic() < deadline, f"{left} are left of {found}"
        time.sleep(0.01)


def test_a_launcher_that_is_killed_leaves_no_process(start, tmp_path):
    launcher = start(WITH_CHILDREN + "    time.sleep(600)", "-n", "2")
    launcher.wait_for("pids-0", "pids-1")
    found = pids(tmp_path)
    assert len(found) == 8
    assert all(alive(pid) for pid in found)
    launcher.send(signal.SIGKILL)
    assert_all_gone(found, within=2)


def test_workers_die_with_the_launcher_even_without_the_watchdog(start, tmp_path):
    launcher = start("Path(f'pids-{rank}').write_text(str(os.getpid())); time.sleep(600)", "-n", "2")
    launcher.wait_for("pids-0", "pids-1")
    os.kill(watchdog_of(launcher.process.pid), signal.SIGKILL)
    launcher.send(signal.SIGKILL)
    assert_all_gone(pids(tmp_path), within=2)


@pytest.mark.slow
def test_the_watchdog_is_not_disturbed_by_what_schedulers_send_to_all(start, tmp_path):
    launcher = start(WITH_CHILDREN + "    time.sleep(600)", "-n", "2")
    launcher.wait_for("pids-0", "pids-1")
    os.kill(watchdog_of(launcher.process.pid), signal.SIGTERM)
    launcher.send(signal.SIGKILL)
    assert_all_gone(pids(tmp_path), within=2)


@pytest.mark.slow
def test_what_workers_started_ends_with_the_job(run, tmp_path):
    code, _, _ = run(WITH_CHILDREN, "-n", "2")
    assert code == 0
    assert_all_gone(pids(tmp_path), within=0.5)


@pytest.mark.slow
def test_what_workers_started_ends_after_a_failure_too(run, tmp_path):
    code, _, _ = run(WITH_CHILDREN + "    os.kill(os.getpid(), signal.SIGKILL)", "-n", "2")
    assert code == 69
    assert_all_gone(pids(tmp_path), within=0.5)


@pytest.mark.slow
def test_a_job_inside_of_a_worker_ends_with_it(start, tmp_path):
    (tmp_path / "inner.py").write_text(
        "import os, time\nfrom pathlib import Path\n"
        "Path('pids-' + os.environ['RANK']).write_text(str(os.getpid()))\ntime.sleep(600)\n"
    )
    launcher = start(
        "subprocess.run([sys.executable, '-m', 'unisono_launch', 'run', '-n', '2', '--name', 'inner', 'inner.py'])"
    )
    launcher.wait_for("pids-0", "pids-1")
    launcher.send(signal.SIGKILL)
    assert_all_gone(pids(tmp_path), within=5)


def watchdog_of(launcher: int) -> int:
    (watchdog,) = (pid for pid in children_of(launcher) if "_watchdog.py" in command_of(pid))
    return watchdog


def children_of(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()
