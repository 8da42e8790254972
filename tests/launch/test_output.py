"""What workers print: shown line by line with their names, stored as it came."""

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unisono_launch.launch._screen import _cut

pytestmark = pytest.mark.timeout(60)


def logs(folder: Path, attempt: int = 0) -> list[bytes]:
    (run,) = (folder / "runs").iterdir()
    return [file.read_bytes() for file in sorted((run / "logs" / f"attempt-{attempt}").glob("worker-*.log"))]


def test_lines_of_several_workers_are_whole_and_named(run, tmp_path):
    code, out, err = run(
        """
        for i in range(200):
            sys.stdout.write(f"{i} ")
            sys.stdout.flush()
            sys.stdout.write("out\\n")
            print(i, "err", file=sys.stderr)
        """,
        "-n",
        "3",
    )
    assert code == 0
    for rank in range(3):
        name = f"[worker {rank}] "
        mine = [line.removeprefix(name) for line in out.splitlines() if line.startswith(name)]
        assert mine == [f"{i} out" for i in range(200)]
        theirs = [line.removeprefix(name) for line in err.splitlines() if line.startswith(name)]
        assert theirs == [f"{i} err" for i in range(200)]
    assert len(out.splitlines()) == 600
    assert [log.count(b"out\n") + log.count(b"err\n") for log in logs(tmp_path)] == [400] * 3


def test_one_worker_looks_as_if_it_ran_alone(run, tmp_path):
    code, out, err = run("print('10%', end='\\r'); print('no end', end=''); print('error', file=sys.stderr)")
    assert (code, out, err) == (0, "10%\rno end", "error\n")
    assert sorted(logs(tmp_path)[0]) == sorted(b"10%\rno enderror\n")


def test_bytes_that_are_no_text_are_shown_and_stored(start, tmp_path):
    launcher = start(r"sys.stdout.buffer.write(b'\xff\xfe\x00 caf\xc3\xa9\n' * (rank + 1))", "-n", "2")
    out, _ = launcher.process.communicate(timeout=30)
    assert launcher.process.returncode == 0
    assert sorted(out.splitlines()) == [b"[worker 0] \xff\xfe\x00 caf\xc3\xa9"] + 2 * [
        b"[worker 1] \xff\xfe\x00 caf\xc3\xa9"
    ]
    assert logs(tmp_path)[1] == b"\xff\xfe\x00 caf\xc3\xa9\n" * 2


@pytest.mark.slow
def test_huge_lines_come_in_pieces_and_are_stored_whole(run, tmp_path):
    code, out, _ = run("sys.stdout.write('x' * 5_000_000 + '\\n' if rank else 'short\\n')", "-n", "2")
    assert code == 0
    assert sum(line.count("x") for line in out.splitlines() if line.startswith("[worker 1] ")) == 5_000_000
    assert max(map(len, out.splitlines())) < 140_000
    assert logs(tmp_path)[1] == b"x" * 5_000_000 + b"\n"


@pytest.mark.slow
def test_of_a_progress_bar_a_file_gets_the_last_state(run, tmp_path):
    """As Keras writes it: backspaces, a return, the new bar."""
    code, out, _ = run(
        r"""
        width = 0
        for i in range(1, 4):
            bar = f"{i}/3 [{'=' * i}]"
            sys.stdout.write("\b" * width + "\r" + bar)
            sys.stdout.flush()
            width = len(bar)
        sys.stdout.write("\n")
        """,
        "-n",
        "2",
    )
    assert code == 0
    assert sorted(out.splitlines()) == ["[worker 0] 3/3 [===]", "[worker 1] 3/3 [===]"]
    assert b"1/3 [=]" in logs(tmp_path)[0]


@pytest.mark.slow
def test_a_line_that_does_not_end_is_shown_after_a_while(start, tmp_path):
    launcher = start(
        "print('loading', end=' '); Path(f'ready-{rank}').touch(); time.sleep(8); print('done')", "-n", "2"
    )
    launcher.wait_for("ready-0", "ready-1")
    out = launcher.process.stdout
    assert sorted(out.readline() for _ in range(2)) == [b"[worker 0] loading \n", b"[worker 1] loading \n"]
    assert sorted(launcher.finish()[1].splitlines()) == ["[worker 0] done", "[worker 1] done"]


@pytest.mark.slow
def test_no_colours_without_a_terminal(run):
    _, out, err = run("print('hello')", "-n", "2", env={"TERM": "xterm-256color"})
    assert "\x1b" not in out + err


@pytest.mark.slow
def test_a_reader_that_goes_away_does_not_end_the_job(start, tmp_path):
    launcher = start("for i in range(20000): print(i)\nPath(f'finished-{rank}').touch()", "-n", "2")
    launcher.process.stdout.readline()
    launcher.process.stdout.close()
    assert launcher.process.wait(30) == 0
    assert (tmp_path / "finished-0").exists()
    assert logs(tmp_path)[0].endswith(b"19999\n")


@pytest.mark.slow
def test_a_reader_that_is_late_gets_everything(start, tmp_path):
    """Two full pipes are left when the worker is dead, and nothing is read for longer than a second."""
    launcher = start("for i in range(2050): print(f'{i:060}')\nPath('finished').touch()")
    launcher.wait_for("finished")
    time.sleep(2)
    code, out, _ = launcher.finish()
    assert code == 0
    assert [int(line) for line in out.splitlines()] == list(range(2050))
    assert logs(tmp_path)[0] == out.encode()


@pytest.mark.slow
def test_a_terminal_that_takes_nothing_does_not_keep_failed_workers_alive(start, tmp_path):
    """As with Ctrl-S, or a pager that waits: nothing reads the launcher's output."""
    launcher = start(
        """
        Path(f"pid-{rank}").write_text(str(os.getpid()))
        if rank == 0:
            while True:
                print("x" * 1000)
        time.sleep(0.5)
        sys.exit(3)
        """,
        "-n",
        "2",
    )
    launcher.wait_for("pid-0", "pid-1")
    time.sleep(0.2)
    pid = int((tmp_path / "pid-0").read_text())
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
    code, _, err = launcher.finish()
    assert code == 3
    assert "worker 1" in err


@pytest.mark.slow
@pytest.mark.parametrize("num_workers", [1, 2])
def test_a_job_continues_while_its_terminal_is_paused_and_the_logs_are_complete(tmp_path, num_workers):
    """As with Ctrl-S. What is printed meanwhile is far more than is kept to be shown later."""
    script = """
import os
from pathlib import Path
if os.environ["RANK"] == "0":
    for i in range(20_000):
        print(f"line {i:01000}")
    Path("finished").touch()
    raise SystemExit(3 if os.environ["UNISONO_ATTEMPT"] == "0" else 0)
"""
    (tmp_path / "script.py").write_text(script)
    controller, terminal = pty.openpty()
    flags = ["-n", str(num_workers), "--max-restarts", "1", "--name", "job"]
    command = [sys.executable, "-m", "unisono_launch", "run", *flags, "script.py"]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    try:
        deadline = time.monotonic() + 30
        while b'"end"' not in events(tmp_path / "runs/job"):
            assert time.monotonic() < deadline, events(tmp_path / "runs/job")
            time.sleep(0.05)
        assert process.poll() is None, "the end of the output has not been shown"
        shown = read_all(controller).decode()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(controller)
    left_out = [int(number) for number in re.findall(r"unisono: (\d+) lines are not shown: the terminal was", shown)]
    assert len(left_out) == 1
    assert sum(left_out) + len(re.findall(r"line \d{1000}\r\n", shown)) == 40_000
    assert "All workers restart: attempt 1" in shown, "messages are never left out"
    for attempt in (0, 1):
        log = (tmp_path / f"runs/job/logs/attempt-{attempt}/worker-0.log").read_text()
        assert [int(line.split()[1]) for line in log.splitlines()] == list(range(20_000))


@pytest.mark.slow
def test_a_paused_terminal_does_not_hold_up_errors_that_go_to_a_file(tmp_path):
    """`unisono run train.py 2> errors`, and Ctrl-S."""
    script = """
import os, sys
from pathlib import Path
if os.environ["RANK"] == "0":
    for i in range(20_000):
        print(f"line {i:01000}")
    print("warning", file=sys.stderr)
    Path("finished").touch()
"""
    (tmp_path / "script.py").write_text(script)
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "unisono_launch", "run", "-n", "2", "--name", "job", "script.py"]
    with (tmp_path / "errors").open("wb") as errors:
        process = subprocess.Popen(command, cwd=tmp_path, stdin=terminal, stdout=terminal, stderr=errors)
    os.close(terminal)
    try:
        deadline = time.monotonic() + 30
        while not (tmp_path / "finished").exists() or b"warning" not in (tmp_path / "errors").read_bytes():
            assert time.monotonic() < deadline, "a worker waits for the terminal"
            time.sleep(0.05)
        shown = read_all(controller).decode()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(controller)
    messages = (tmp_path / "errors").read_text()
    (left_out,) = re.findall(r"unisono: (\d+) lines are not shown: the terminal was", messages)
    assert int(left_out) + len(re.findall(r"line \d{1000}\r\n", shown)) == 20_000
    assert "[worker 0] warning\n" in messages


@pytest.mark.slow
def test_one_signal_ends_the_waiting_for_a_pipe_that_is_not_read(start, tmp_path):
    """The workers have ended, and there is no room for the last lines: 41,000 of them wait to be shown."""
    launcher = start(
        "for i in range(45_000 * (1 - rank)): print(f'line {i:05}')\nPath(f'end-{rank}').touch()", "-n", "2"
    )
    launcher.wait_for("end-0", "end-1")
    time.sleep(1.5)
    assert launcher.process.poll() is None
    assert b'"end"' not in events(*(tmp_path / "runs").iterdir()), "the launcher does not wait for room"
    launcher.send(signal.SIGINT)
    assert launcher.process.wait(10) == 0
    assert logs(tmp_path)[0].count(b"\n") == 45_000


@pytest.mark.slow
def test_workers_that_wait_to_be_read_can_save_on_sigterm(start, tmp_path):
    """A job in front of a pipe that nobody reads is preempted: the workers print until they wait."""
    launcher = start(
        """
        asked = []
        signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
        Path(f"ready-{rank}").touch()
        while not asked:
            print("x" * 1000)
        Path(f"saved-{rank}").touch()
        sys.exit(75)
        """,
        *("-n", "2", "--grace", "20"),
    )
    launcher.wait_for("ready-0", "ready-1")
    time.sleep(3)
    launcher.send(signal.SIGTERM)
    assert launcher.process.wait(15) == 75
    assert all((tmp_path / f"saved-{rank}").exists() for rank in (0, 1))


@pytest.mark.slow
def test_a_signal_ends_the_waiting_for_a_terminal_that_is_paused_when_the_job_has_ended(tmp_path):
    (tmp_path / "script.py").write_text("print('x' * 1_000_000); raise SystemExit(75)")
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "unisono_launch", "run", "--name", "job", "script.py"]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    try:
        deadline = time.monotonic() + 30
        while b'"end"' not in events(tmp_path / "runs/job"):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGUSR1)  # which says nothing about the output
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 75
    finally:
        process.kill()
        process.wait()
        os.close(controller)


def events(run: Path) -> bytes:
    return (run / "events.jsonl").read_bytes() if (run / "events.jsonl").exists() else b""


def read_all(controller: int) -> bytes:
    received = bytearray()
    with contextlib.suppress(OSError):  # Linux's way to say that the other end is closed
        while select.select([controller], [], [], 20)[0]:
            received += os.read(controller, 65536)
    return bytes(received)


@pytest.mark.slow
def test_on_a_terminal_the_bar_of_the_first_worker_stays_below_the_lines_of_its_peers(tmp_path):
    screen, raw = on_terminal(
        tmp_path,
        r"""
import os, sys, time
from pathlib import Path
rank = int(os.environ["RANK"])
if rank == 0:
    for i in range(1, 9):
        sys.stdout.write(f"\r\x1b[32m{i}/8\x1b[0m " + "=" * 10 * i)
        time.sleep(0.1)
    Path("bar").touch()
    time.sleep(0.3)
    sys.stdout.write("\r8/8 done\n")
else:
    time.sleep(0.3)
    print("one line")
    while not Path("bar").exists():
        time.sleep(0.01)
    time.sleep(0.1)
    print("another line", file=sys.stderr)
    time.sleep(0.5)
""",
    )
    assert [line for line in screen if line.startswith("[worker")] == [
        "[worker 1] one line",
        "[worker 1] another line",
        "[worker 0] 8/8 done",
    ]
    assert "\x1b[36m[worker 0]\x1b[0m" in raw
    assert "\x1b[32m3/8\x1b[0m ====" in raw
    assert "=" * 60 not in raw, "a bar that is wider than the terminal cannot be painted over"


def test_a_bar_is_cut_to_the_width_of_the_terminal():
    assert _cut("\x1b[32mabc\x1b[0mdef", 4) == "\x1b[32mabc\x1b[0md"
    assert _cut("日本語", 5) == "日本"
    assert _cut("x" * 1_000_000, 3) == "xxx"
    assert _cut("abc", -1) == ""


def on_terminal(folder: Path, script: str) -> tuple[list[str], str]:
    """What a terminal of 60 columns shows in the end, and all that was sent to it."""
    (folder / "script.py").write_text(script)
    controller, terminal = pty.openpty()
    subprocess.run(["stty", "cols", "60", "rows", "20"], stdin=terminal, check=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "unisono_launch", "run", "-n", "2", "script.py"],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    try:
        received = read_all(controller)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(controller)
    raw = received.decode()
    lines = [""]
    for part in re.split(r"(\r\n|\r\x1b\[K|\x1b\[[0-9;]*m)", raw):
        if part == "\r\n":
            lines.append("")
        elif part == "\r\x1b[K":
            lines[-1] = ""
        elif not part.startswith("\x1b"):
            lines[-1] += part
    return lines, raw


def test_what_a_library_says_when_all_is_well_is_in_the_logs_alone(run, tmp_path):
    connected = "[Gloo] Rank 0 is connected to {} peer ranks. Expected number of connected peer ranks is : 1"
    code, out, _ = run(f"print({connected.format(1)!r}); print({connected.format(0)!r}); print('mine')", "-n", "2")
    assert code == 0
    shown = [connected.format(0), "mine"]
    assert sorted(out.splitlines()) == sorted(f"[worker {rank}] {line}" for rank in (0, 1) for line in shown)
    assert all(connected.format(1).encode() in log for log in logs(tmp_path))
