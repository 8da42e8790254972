"""Every test is checked for leaked environment variables, threads and processes.

Also sets what must be in the environment before JAX starts. Fixtures of one area are beside its tests.
"""

import contextlib
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import pytest

os.environ["KERAS_BACKEND"] = "jax"
os.environ["UNISONO_CPU_DEVICES"] = "8"
# XLA:CPU's thread pool. With less than twice the devices its collectives can deadlock.
os.environ["NPROC"] = "16"

# Imported here, not in the first test that needs it: JAX and Keras set environment variables when imported.
import jax

import unisono  # noqa: F401
from tests.default_cells import mark_rare_cells
from tests.stored_programs import exchange_programs, remove_oldest_programs
from unisono._src.replicas.context import _stack

# Many tests build the same small model, so the tests of this process share a cache of compiled programs.
_PROGRAMS = tempfile.TemporaryDirectory(prefix="unisono-programs-")
exchange_programs(_PROGRAMS.name)
jax.config.update("jax_compilation_cache_dir", _PROGRAMS.name)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
jax.config.update("jax_persistent_cache_enable_xla_caches", "none")  # else its path is a part of the key of a program

# The processes that tests start share another one: a job that is killed and started again takes half the CPU time. A
# process that is killed while it writes leaves a damaged entry; JAX warns, and compiles the program itself.
_PROGRAMS_OF_CHILDREN = None
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:  # set by the process that started this one, with pytest-xdist
    _PROGRAMS_OF_CHILDREN = tempfile.TemporaryDirectory(prefix="unisono-programs-", ignore_cleanup_errors=True)
    exchange_programs(_PROGRAMS_OF_CHILDREN.name)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = _PROGRAMS_OF_CHILDREN.name
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    os.environ["JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES"] = "none"
    os.environ["PYTHONWARNINGS"] = "ignore:Error reading persistent compilation cache:UserWarning"

# A shell starts jobs in the background with SIGINT ignored, nohup with SIGHUP, and children would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Inherited by children, so that a process is recognized as ours even after its parent has died.
_MARK = "UNISONO_TEST_RUN"
os.environ[_MARK] = str(os.getpid())

_T = TypeVar("_T")
_GRACE_SECONDS = 5.0  # for what was asked to stop

hypothesis.settings.register_profile("unisono", deadline=None)  # the first example compiles
hypothesis.settings.load_profile("unisono")


# The files with the longest tests, most of them wait for processes. Begun first, none of them is left alone at the end.
_BEGUN_FIRST = (
    "parity",
    "workers",
    "faults",
    "strategy/test_sharded_training.py",
    "tf/test_scripts.py",
    "tf/test_user_scripts.py",
    "launch",
)


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_rare_cells(items)
    first = tuple(str(Path(__file__).parent / name) for name in _BEGUN_FIRST)
    items.sort(key=lambda item: not str(item.path).startswith(first))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``--dist loadfile``, as in the Makefile."""
    if config.getvalue("dist") != "loadfile":
        return None
    from tests.scheduling import ScheduleFilesAndParts  # pytest may run without pytest-xdist

    return ScheduleFilesAndParts(config, log)


def pytest_sessionfinish() -> None:
    exchange_programs(_PROGRAMS.name)
    if _PROGRAMS_OF_CHILDREN is not None:
        exchange_programs(_PROGRAMS_OF_CHILDREN.name)
    remove_oldest_programs()


@pytest.fixture(autouse=True, scope="module")
def exchanged_programs() -> None:
    """Tests in other processes have compiled some of those that the tests of this file need."""
    exchange_programs(_PROGRAMS.name)


@pytest.fixture(autouse=True)
def no_leaked_environment() -> Iterator[None]:
    before = _environment()
    yield
    after = _environment()
    if after != before:
        changed = sorted({name for name, _ in before.items() ^ after.items()})
        for name in changed:
            os.environ.pop(name, None)
        os.environ.update(before)
        pytest.fail(f"The test changed the environment: {changed}. Use monkeypatch.setenv.", pytrace=False)


@pytest.fixture(autouse=True)
def no_leaked_threads() -> Iterator[None]:
    before = _threads()
    yield
    leaked = _wait_for_end(_threads, before)
    if leaked:
        names = [thread.name for thread in leaked]
        pytest.fail(f"The test left threads running: {names}. Stop and join them.", pytrace=False)


@pytest.fixture(autouse=True)
def no_leaked_processes() -> Iterator[None]:
    before = _processes_before()
    yield
    if not _some_started():
        return
    leaked = _wait_for_end(_processes, before)
    if leaked:
        commands = {pid: _command(pid) for pid in leaked}
        for pid in leaked:
            _kill(pid)
        pytest.fail(f"The test left processes running: {commands}. They were killed.", pytrace=False)


@pytest.fixture(autouse=True)
def no_idle_strategies() -> None:
    """Else a model of this test would be said to be outside the scope of a strategy that an earlier test made."""
    _stack._idle.clear()


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def _threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if not thread.daemon}


@dataclass
class _Seen:
    """The processes of this run at the last check, which takes longer than most tests."""

    number_started: int | None = None
    processes: set[int] = field(default_factory=set)


_seen = _Seen()


def _processes_before() -> set[int]:
    """All that may be running; some of those last seen may have ended."""
    if _some_started():
        _seen.number_started, _seen.processes = _number_started(), _processes()
    return _seen.processes


def _some_started() -> bool:
    """Whether any process was started on this machine since the last check."""
    return _seen.number_started is None or _seen.number_started != _number_started()


def _number_started() -> int | None:
    """Processes started since boot; None if /proc does not tell."""
    try:
        return int(Path("/proc/stat").read_bytes().partition(b"\nprocesses ")[2].split()[0])
    except (OSError, IndexError):
        return None


def _processes() -> set[int]:
    """The running processes of this test run, orphans included. Without /proc: those of multiprocessing."""
    found = {child.pid for child in multiprocessing.active_children() if child.pid}
    running = {int(name) for name in os.listdir("/proc") if name.isdecimal()} if os.path.isdir("/proc") else set()
    for pid in _foreign.keys() - running:
        del _foreign[pid]
    for pid in running:
        first_seen = _foreign.get(pid)
        if first_seen is not None and time.monotonic() - first_seen > _SECONDS_UNTIL_EXEC:
            continue
        try:
            ours = _is_ours(pid)
        except OSError:  # it has ended, or belongs to another user
            ours = False
        if ours:
            found.add(pid)
        else:
            _foreign.setdefault(pid, time.monotonic())
    return found - {os.getpid()}


# Processes that are none of this run, by the time they were first seen. A scan of all took 8 ms, twice for every test.
_foreign: dict[int, float] = {}

# A process has the environment that marks it only after exec.
_SECONDS_UNTIL_EXEC = 1.0


def _is_ours(pid: int) -> bool:
    state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    if state == "Z":
        return False
    marked = f"{_MARK}={os.getpid()}\0".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    return (int(parent) == os.getpid() or marked) and "multiprocessing.resource_tracker" not in _command(pid)


def _wait_for_end(look: Callable[[], set[_T]], before: set[_T]) -> set[_T]:
    deadline = time.monotonic() + _GRACE_SECONDS
    while (leaked := look() - before) and time.monotonic() < deadline:
        time.sleep(0.05)
    return leaked


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    except OSError:
        return "?"


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
