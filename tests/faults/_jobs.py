"""Jobs that are started again until they are done, as their user would; and what they left behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

SCRIPT: Final = Path(__file__).parent / "scripts" / "train.py"
LAUNCHER: Final = Path(sys.executable).with_name("unisono")

DEADLINE: Final = 180.0  # seconds, of one start
_MAX_STARTS: Final = 3
_STOPPED_SECONDS: Final = 3.0  # that a launcher is held
_MARK: Final = "FAULTS_RUN"


@dataclass(frozen=True)
class Job:
    """The settings of `scripts/train.py`. 8 steps make an epoch.

    Attributes:
        workers: 1 is a process with two devices, and no launcher.
        save_by: "steps", "seconds", or "" for a training without checkpoints.
        step_seconds: the least time that a step takes.
        data: "arrays", "rows" (a dataset that is gathered in the program) or "stream" (one that is not).
        max_restarts: the launcher's.
        shard: what is sharded over the workers, each of which writes its part: "zero3" (weights and optimizer state),
            "zero1" (optimizer state) or "mesh" (both, and the workers share the work of each layer); "" for nothing.
    """

    workers: int = 1
    epochs: int = 3
    save_by: str = "steps"
    save_every: float = 3
    steps_per_call: int = 1
    step_seconds: float = 0.0
    data: str = "rows"
    max_restarts: int = 3
    shard: str = ""

    @property
    def undisturbed(self) -> Job:
        """The same training without delays and without checkpoints."""
        return replace(self, save_by="", save_every=0, step_seconds=0.0, max_restarts=0)


@dataclass
class Ending:
    """How a job ended."""

    codes: list[int] = field(default_factory=list)
    """Exit codes of all starts."""
    seconds: float = 0.0


@contextlib.contextmanager
def started(job: Job, folder: Path, fault: Any = None) -> Iterator[subprocess.Popen[bytes]]:
    """Starts a job in `folder`. At the end of the block what is left of it is killed.

    Its output goes to `output.log` there.
    """
    environment = {key: value for key, value in os.environ.items() if key not in ("UNISONO_CPU_DEVICES", "TF_CONFIG")}
    environment |= {
        "FAULTS_JOB": json.dumps(asdict(job)),
        "FAULTS_FAULT": json.dumps(fault and asdict(fault)),
        "JAX_PLATFORMS": "cpu",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        _MARK: str(folder),
    }
    if job.workers == 1:
        command = [sys.executable, "-u"]
        environment["UNISONO_CPU_DEVICES"] = "2"
    else:
        command = [str(LAUNCHER), "run", "-n", str(job.workers), "--devices", "cpu:1"]
        command += ["--max-restarts", str(job.max_restarts), "--run-dir", str(folder / "run")]
        del environment["NPROC"]
    with open(folder / "output.log", "ab") as output:
        process = subprocess.Popen(
            [*command, str(SCRIPT), str(folder)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        for pid in (*_processes(folder), process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def finish(process: subprocess.Popen[bytes], folder: Path) -> int:
    """The exit code of a job. When this returns, none of its processes is left.

    A process that is stopped is killed by its user. A launcher that is stopped is woken up again.
    """
    deadline = time.monotonic() + DEADLINE
    while process.poll() is None:
        assert time.monotonic() < deadline, f"still running after {DEADLINE} s:\n{said(folder)}"
        if _state(process.pid) == "T":
            is_launcher = str(LAUNCHER) in process.args  # type: ignore[operator]
            time.sleep(_STOPPED_SECONDS if is_launcher else 0)
            process.send_signal(signal.SIGCONT if is_launcher else signal.SIGKILL)
        time.sleep(0.02)
    wait_until(lambda: not _processes(folder), folder, "all processes to end", seconds=10)
    return process.returncode


def run_once(job: Job, folder: Path, fault: Any = None) -> int:
    """One start, to its end: its exit code."""
    with started(job, folder, fault) as process:
        return finish(process, folder)


def run_to_the_end(job: Job, folder: Path, fault: Any = None) -> Ending:
    """Starts a job again until it is done."""
    ending, began = Ending(), time.monotonic()
    while not ending.codes or ending.codes[-1] != 0:
        assert len(ending.codes) < _MAX_STARTS, f"ended with {ending.codes}:\n{said(folder)}"
        ending.codes.append(run_once(job, folder, fault))
        check_checkpoints(folder)
        (folder / "run" / "ballast").unlink(missing_ok=True)  # there is room on the disk again
    ending.seconds = time.monotonic() - began
    check_nothing_temporary(folder)
    return ending


def wait_until(condition: Callable[[], bool], folder: Path, what: str, seconds: float = DEADLINE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}:\n{said(folder)}"
        time.sleep(0.01)


def pid_of_worker(rank: int, folder: Path) -> int:
    """The process that is worker `rank` of the job that runs in `folder`."""
    name = f"RANK={rank}".encode()
    (pid,) = (pid for pid in _processes(folder) if name in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
    return pid


def check_checkpoints(folder: Path) -> None:
    """The folder of the checkpoints holds complete checkpoints and nothing else, whatever was killed."""
    for path in folder.glob("run/checkpoints/fit-1/*"):
        assert path.name.startswith("save-"), path
        manifest = json.loads((path / "manifest.json").read_text())
        parts = len(manifest["body"]["files"]) - 1
        names = [f"arrays-{part:05}-of-{parts:05}.safetensors" for part in range(parts)]
        arrays = names if manifest["version"] == 2 else ["arrays.safetensors"]
        assert set(os.listdir(path)) == {*arrays, "manifest.json", "state.json"}, path


def check_nothing_temporary(folder: Path) -> None:
    """A job that is done has cleared up what was half written when it was killed."""
    assert os.listdir(folder / "run" / "checkpoints") == ["fit-1"]
    check_checkpoints(folder)


def said(folder: Path) -> str:
    """The output of a job."""
    return (folder / "output.log").read_text(errors="replace")


def result_of(folder: Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Weights, optimizer, history and CSV log of a job that is done; equal if every bit is."""
    with np.load(folder / "result.npz") as arrays:
        result = {name: (str(array.dtype), array.shape, array.tobytes()) for name, array in arrays.items()}
    return result | {"log.csv": ("text", (), (folder / "log.csv").read_bytes())}


def _processes(folder: Path) -> list[int]:
    """The living processes of the jobs in `folder`."""
    mark = f"{_MARK}={folder}\0".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # gone meanwhile, or another user's
            if mark in (entry / "environ").read_bytes() and _state(int(entry.name)) not in "ZX":
                found.append(int(entry.name))
    return found


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"
