"""A worker that leaves with code 75 has saved, and so will its peers, if they are let."""

import signal
import time

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

# The first leaves at once, its peers need 3 and 5 seconds; nothing makes them hurry.
SAVES = """
    if attempt == 0:
        signal.signal(signal.SIGTERM, lambda *_: Path("hurried").touch())
        time.sleep([0, 3, 5][rank])
        Path(f"saved-{rank}").touch()
        sys.exit(75)
    Path(f"again-{rank}").touch()
"""


def test_peers_have_the_grace_period_to_leave_by_themselves(run, tmp_path):
    code, _, err = run(SAVES, "-n", "3", "--max-restarts", "1")
    assert code == 0
    assert "worker 0 on" in err
    assert "asked to be restarted (exit code 75). All workers restart in 1 s: attempt 1, 1 restart left." in err
    assert all((tmp_path / f"{what}-{rank}").exists() for what in ("saved", "again") for rank in range(3))
    assert not (tmp_path / "hurried").exists()


def test_without_restarts_all_have_saved_when_the_launcher_ends(run, tmp_path):
    code, _, _ = run(SAVES, "-n", "3")
    assert code == 75
    assert all((tmp_path / f"saved-{rank}").exists() for rank in range(3))
    assert not (tmp_path / "hurried").exists()
    assert not (tmp_path / "again-0").exists()


def test_peers_that_do_not_leave_are_asked_to_when_the_grace_period_is_over(run, tmp_path):
    began = time.monotonic()
    code, _, _ = run(
        """
        def save(*_):
            Path("asked").touch()
            sys.exit(75)
        signal.signal(signal.SIGTERM, save)
        Path(f"ready-{rank}").touch()
        until("ready-0", "ready-1")
        time.sleep(60 * rank)
        sys.exit(75)
        """,
        *("-n", "2", "--grace", "2"),
    )
    assert code == 75
    assert (tmp_path / "asked").exists()
    assert 2 < time.monotonic() - began < 8


def test_ctrl_c_while_the_peers_of_a_preempted_worker_save_means_no_restart(start):
    launcher = start(
        "Path(f'ready-{rank}').touch(); until('ready-0', 'ready-1'); time.sleep(4 * rank); sys.exit(75)",
        *("-n", "2", "--max-restarts", "3", "--grace", "30"),
    )
    launcher.wait_for("ready-0", "ready-1")
    time.sleep(1)
    launcher.send(signal.SIGINT)
    code, _, err = launcher.finish()
    assert code == 130
    assert "unisono: ended by SIGINT." in err
    assert "asked to be restarted" not in err


def test_when_a_peer_fails_meanwhile_the_rest_does_not_wait_for_the_grace_period(run):
    """It cannot save without its peers, and neither can they."""
    began = time.monotonic()
    code, _, err = run("time.sleep([0, 0.5, 60][rank])\nsys.exit([75, 69, 0][rank])", "-n", "3", "--grace", "40")
    assert code == 75
    assert time.monotonic() - began < 15
    assert "worker 1 ended with exit code 69; worker 2 was asked to stop (SIGTERM)" in err
