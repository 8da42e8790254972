"""A worker fails: all end soon, and the report names the right one."""

import re
import socket
import time

import pytest

HOST = socket.gethostname()
pytestmark = pytest.mark.timeout(60)

# How the culprit ends, what the report says of it, and the exit code of the launcher.
WAYS = {
    "exception": ("raise ValueError('boom')", "failed with exit code 1", 1),
    "exit": ("sys.exit(7)", "failed with exit code 7", 7),
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL", 69),
    "term": ("os.kill(os.getpid(), signal.SIGTERM)", "was killed by SIGTERM", 69),
    "crash": ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed with SIGSEGV", 69),
}

# Worker 1 fails, and its peer takes no notice, nor SIGTERM.
DEAF_PEER = """
    if rank == 1:
        sys.exit(3)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)
"""


@pytest.mark.parametrize(
    ("way", "culprit"),
    [
        pytest.param(way, culprit, marks=() if (way, culprit) == ("exception", 1) else pytest.mark.slow)
        for way in WAYS
        for culprit in (0, 1)
    ],
)
def test_the_worker_that_failed_first_is_named_and_not_its_victims(run, way, culprit):
    statement, words, code = WAYS[way]
    result, _, err = run(
        f"""
        from unisono_launch.launch import write_status
        write_status(os.environ["UNISONO_STATUS"], "fit", 120 + rank)
        peers = suffer_with({culprit})
        {statement}
        """,
        "-n",
        "3",
    )
    assert result == code
    report = err[err.rindex("unisono: worker") :]
    assert report.startswith(f"unisono: worker {culprit} on {HOST} {words} at step {120 + culprit} (fit).\n")
    peers = [rank for rank in range(3) if rank != culprit]
    assert "; ".join(f"worker {rank} ended with exit code 1" for rank in peers) in report
    if way == "exception":
        assert report.endswith("    ValueError: boom\n")
        assert "Gloo" not in report


@pytest.mark.slow
def test_a_job_whose_peers_do_not_end_ends_within_ten_seconds(run):
    """No worker reacts to anything: the worst case."""
    began = time.monotonic()
    code, _, err = run(DEAF_PEER, "-n", "2")
    assert time.monotonic() - began < 10
    assert code == 3
    assert "worker 0 was asked to stop (SIGKILL)" in err


@pytest.mark.slow
def test_the_grace_period_can_be_shorter(run):
    began = time.monotonic()
    code, _, _ = run(DEAF_PEER, "-n", "2", "--grace", "0.1")
    assert code == 3
    assert time.monotonic() - began < 4


@pytest.mark.slow
def test_peers_get_sigterm_and_may_finish_what_they_do(run, tmp_path):
    run(
        """
        if rank == 1:
            sys.exit(3)
        def save(number, frame):
            Path("saved").write_text("")
            sys.exit(0)
        signal.signal(signal.SIGTERM, save)
        time.sleep(60)
        """,
        "-n",
        "2",
    )
    assert (tmp_path / "saved").exists()


@pytest.mark.slow
def test_a_worker_that_finishes_early_is_no_failure(run):
    code, out, err = run("time.sleep(0.3 * rank); print('done')", "-n", "3")
    assert code == 0
    assert sorted(out.splitlines()) == [f"[worker {rank}] done" for rank in range(3)]
    assert "worker 0" not in err


@pytest.mark.slow
@pytest.mark.parametrize("culprit", [0, 1])
def test_a_stopped_worker_is_named_when_its_peers_miss_its_heartbeat(run, culprit):
    code, _, err = run(
        f"""
        if rank == {culprit}:
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(0.3)
        print("F1115 client.h:80] Terminating process because the JAX distributed service detected fatal errors.",
              "DEADLINE_EXCEEDED RPC: /xla.coordination.CoordinationService/Heartbeat", file=sys.stderr)
        os.abort()
        """,
        "-n",
        "3",
    )
    assert code == 124
    assert f"unisono: worker {culprit} on {HOST} was stopped (SIGSTOP)." in err


@pytest.mark.slow
def test_a_worker_that_hangs_is_named_when_its_peers_miss_its_heartbeat(run):
    code, _, err = run(
        """
        if rank == 1:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(60)
        print("The following tasks are unhealthy (stopped sending heartbeats):\\n1\\nThe tasks have crashed.",
              file=sys.stderr)
        os.abort()
        """,
        "-n",
        "3",
        "--grace",
        "0.2",
    )
    assert code == 124
    assert f"unisono: worker 1 on {HOST} is stuck (no heartbeats, its peers say)." in err
    assert "What worker" in err


@pytest.mark.full
def test_a_stopped_worker_is_found_even_if_no_peer_misses_it(run):
    began = time.monotonic()
    code, _, err = run(
        """
        if rank == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(60)
        """,
        "-n",
        "2",
    )
    assert code == 124
    assert f"unisono: worker 1 on {HOST} was stopped (SIGSTOP)." in err
    assert time.monotonic() - began < 20


@pytest.mark.slow
def test_a_worker_that_says_it_failed_and_does_not_end_is_ended(run):
    """As with JAX, which at exit waits for the peers, while they wait for what the failed one should send."""
    code, _, err = run(
        """
        import atexit
        from unisono_launch.launch import FAILED, write_status
        atexit.register(time.sleep, 60)
        if rank == 1:
            write_status(os.environ["UNISONO_STATUS"], FAILED, 5)
            raise ValueError("boom")
        time.sleep(60)
        """,
        "-n",
        "2",
    )
    assert code == 1
    assert re.search(r"worker 1 on .* failed with exit code 1 at step 5\.\n", err)
    assert err.endswith("    ValueError: boom\n")


@pytest.mark.slow
def test_a_failure_is_reported_at_the_last_step(run):
    code, _, err = run(
        """
        from unisono._src.processes._progress import report_failure, report_progress
        report_progress("fit", 20)
        report_failure()
        raise ValueError("boom")
        """,
        "-n",
        "1",
    )
    assert code == 1
    assert f"unisono: worker 0 on {HOST} failed with exit code 1 at step 20." in err


@pytest.mark.slow
def test_a_worker_that_says_it_failed_and_ends_after_its_victims_is_the_cause(run):
    code, _, err = run(
        """
        from unisono_launch.launch import FAILED, write_status
        peers = suffer_with(1)
        write_status(os.environ["UNISONO_STATUS"], FAILED, 5)
        for peer in peers:
            peer.close()
        time.sleep(60)
        """,
        "-n",
        "2",
    )
    assert code == 1
    assert f"unisono: worker 1 on {HOST} failed with exit code 1 at step 5." in err


@pytest.mark.slow
def test_the_order_of_ends_decides_between_equals(run):
    code, _, err = run("time.sleep(0.3 - 0.1 * rank)\nsys.exit(10 + rank)", "-n", "3")
    assert code == 12
    assert f"unisono: worker 2 on {HOST} failed with exit code 12." in err


@pytest.mark.slow
def test_a_worker_that_says_that_a_peer_was_lost_is_not_the_cause(run):
    code, _, err = run("time.sleep(0.2 * rank)\nsys.exit(69 if rank == 0 else 5)", "-n", "2")
    assert code == 5
    assert f"worker 1 on {HOST} failed with exit code 5" in err


@pytest.mark.slow
def test_the_words_of_an_only_worker_are_not_repeated(run):
    code, _, err = run("raise ValueError('boom')")
    assert code == 1
    assert err.count("ValueError: boom") == 1
    assert f"unisono: worker 0 on {HOST} failed with exit code 1.\n  Log: runs/script-" in err


@pytest.mark.slow
def test_a_missing_module_is_reported_by_python(command):
    code, _, err = command("run", "-m", "no_such_module")
    assert code == 1
    assert "No module named no_such_module" in err
    assert "failed with exit code 1" in err
