"""Ctrl-C, SIGTERM and further signals, sent to the launcher."""

import os
import pty
import signal
import subprocess
import sys
import textwrap
import time

import pytest

pytestmark = pytest.mark.timeout(60)

COUNTS = """
    def note(number, frame):
        with open(f"got-{rank}", "a") as file:
            file.write(signal.Signals(number).name + " ")
        # Not at once, so that a second signal could come.
        time.sleep(0.2)
        sys.exit(0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, note)
    Path(f"ready-{rank}").touch()
    time.sleep(60)
"""
DEAF = """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    Path(f"ready-{rank}").touch()
    time.sleep(60)
"""


@pytest.mark.parametrize(
    ("number", "received", "code"),
    [
        (signal.SIGINT, "SIGINT ", 130),
        pytest.param(signal.SIGTERM, "SIGTERM ", 143, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, "SIGTERM ", 143, marks=pytest.mark.slow),
    ],
)
def test_a_signal_reaches_each_worker_once(start, tmp_path, number, received, code):
    launcher = start(COUNTS, "-n", "2")
    launcher.wait_for("ready-0", "ready-1")
    launcher.send(number)
    result, _, err = launcher.finish()
    assert result == code
    assert f"unisono: ended by {number.name}." in err
    assert [(tmp_path / f"got-{rank}").read_text() for rank in (0, 1)] == [received] * 2


def test_a_worker_may_get_the_signal_of_a_scheduler_before_the_launcher(start, tmp_path):
    launcher = start("Path('pid.new').write_text(str(os.getpid())); os.rename('pid.new', 'pid'); time.sleep(60)")
    launcher.wait_for("pid")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)
    time.sleep(0.2)
    launcher.send(signal.SIGTERM)
    code, _, err = launcher.finish()
    assert (code, err) == (143, "unisono: ended by SIGTERM.\n")


@pytest.mark.slow
def test_without_a_handler_ctrl_c_is_a_keyboard_interrupt(start):
    launcher = start("Path(f'ready-{rank}').touch(); time.sleep(60)", "-n", "2")
    launcher.wait_for("ready-0", "ready-1")
    launcher.send(signal.SIGINT)
    code, _, err = launcher.finish()
    assert code == 130
    assert "[worker 1] KeyboardInterrupt" in err


def test_a_failure_after_ctrl_c_is_none_whatever_the_clock_of_the_file_server(start):
    """The folder of the run can be on a machine whose clock is behind."""
    launcher = start(
        """
        from unisono_launch.launch import FAILED, write_status
        Path("ready").touch()
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            write_status(os.environ["UNISONO_STATUS"], FAILED, 1)
            os.utime(os.environ["UNISONO_STATUS"], (1, time.time() - 5))
            sys.exit(1)
        """
    )
    launcher.wait_for("ready")
    launcher.send(signal.SIGINT)
    assert launcher.finish()[0] == 130


@pytest.mark.slow
def test_workers_that_do_not_listen_are_killed_after_the_grace_period(start):
    launcher = start(DEAF, "-n", "2", "--grace", "0.5")
    launcher.wait_for("ready-0", "ready-1")
    began = time.monotonic()
    launcher.send(signal.SIGTERM)
    code, _, _ = launcher.finish()
    assert code == 143
    assert 0.5 <= time.monotonic() - began < 5


def test_a_second_ctrl_c_kills_at_once(start):
    launcher = start(DEAF, "-n", "2", "--grace", "60")
    launcher.wait_for("ready-0", "ready-1")
    launcher.send(signal.SIGINT)
    time.sleep(0.3)
    began = time.monotonic()
    launcher.send(signal.SIGINT)
    code, _, _ = launcher.finish()
    assert code == 130
    assert time.monotonic() - began < 3


@pytest.mark.slow
def test_a_second_sigterm_does_not_kill(start, tmp_path):
    launcher = start(COUNTS, "-n", "1")
    launcher.wait_for("ready-0")
    launcher.send(signal.SIGTERM)
    time.sleep(0.1)
    launcher.send(signal.SIGTERM)
    code, _, _ = launcher.finish()
    assert code == 143
    assert (tmp_path / "got-0").read_text() == "SIGTERM "


def test_the_exit_code_asks_for_a_restart_when_workers_have_saved(start):
    launcher = start(
        """
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(75))
        Path(f"ready-{rank}").touch()
        time.sleep(60)
        """,
        "-n",
        "2",
        "--max-restarts",
        "3",
    )
    launcher.wait_for("ready-0", "ready-1")
    launcher.send(signal.SIGTERM)
    code, _, err = launcher.finish()
    assert code == 75
    assert "workers restart" not in err


@pytest.mark.slow
def test_user_signals_are_passed_on(start, tmp_path):
    launcher = start(
        """
        signal.signal(signal.SIGUSR1, lambda number, frame: sys.exit(0))
        Path(f"ready-{rank}").touch()
        time.sleep(60)
        """,
        "-n",
        "2",
    )
    launcher.wait_for("ready-0", "ready-1")
    launcher.send(signal.SIGUSR1)
    assert launcher.finish()[0] == 0


def test_ctrl_c_on_a_terminal_reaches_each_worker_once(tmp_path):
    """The terminal sends it to the whole foreground group, to which the workers must not belong."""
    imports = "import os, signal, sys, time\nfrom pathlib import Path\nrank = os.environ['RANK']\n"
    (tmp_path / "script.py").write_text(imports + textwrap.dedent(COUNTS))
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", sys.executable, "-m", "unisono_launch", "run", "-n", "2", "script.py"],
        cwd=tmp_path,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    try:
        deadline = time.monotonic() + 20
        while not ((tmp_path / "ready-0").exists() and (tmp_path / "ready-1").exists()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.write(controller, b"\x03")
        assert process.wait(20) == 130
    finally:
        process.kill()
        process.wait()
        os.close(controller)
    assert [(tmp_path / f"got-{rank}").read_text() for rank in (0, 1)] == ["SIGINT "] * 2
