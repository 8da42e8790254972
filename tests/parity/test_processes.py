"""A problem that takes its process down, or never ends, costs the other problems nothing and leaves nothing running."""

import subprocess
import time
from pathlib import Path

import pytest

from . import _processes
from ._processes import Group

# Solves like _runner.py, but "abort" dies and "hang" starts a child and waits for ever.
RUNNER = """
import os, subprocess, sys, time
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
for name in options["--solutions"].split(","):
    print("now", name, flush=True)
    if name == "abort":
        os.abort()
    if name == "hang":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open(options["--out"] + "/child", "w").write(str(child.pid))
        time.sleep(600)
    open(f"{options['--out']}/{name}.json", "w").write('{"error": "solved"}')
"""


def _group(*problems: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Group:
    (folder / "_runner.py").write_text(RUNNER)
    monkeypatch.setattr(_processes, "HERE", folder)
    return Group("oracle", 1, problems, folder)


def test_the_other_problems_are_solved_when_one_takes_the_process_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    group = _group("a", "abort", "b", folder=tmp_path, monkeypatch=monkeypatch)
    _processes._solve(group)
    for name, said in (("a", "solved"), ("abort", "(?s)ended with code -6.*now abort"), ("b", "solved")):
        with pytest.raises(AssertionError, match=said):
            group.solution(name)


def test_a_process_past_its_deadline_is_killed_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_processes, "SECONDS_TO_START", 3)
    monkeypatch.setattr(_processes, "SECONDS_A_PROBLEM", 0)
    group = _group("a", "hang", "b", folder=tmp_path, monkeypatch=monkeypatch)
    began = time.monotonic()
    _processes._solve(group)
    assert time.monotonic() - began < 30
    with pytest.raises(AssertionError, match="was killed after 3 s"):
        group.solution("hang")
    with pytest.raises(AssertionError, match="left no result for b"):
        group.solution("b")
    assert not _alive(int((tmp_path / "child").read_text()))


def _alive(pid: int) -> bool:
    for _ in range(50):  # a killed orphan is listed until init collects it
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
        if not state.strip() or state.startswith("Z"):
            return False
        time.sleep(0.1)
    return True
