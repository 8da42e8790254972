"""--max-restarts: what failed starts again, all of it, on a new port."""

import json
import re
import signal
import time

import pytest

from unisono_launch.launch import hold_free_ports

pytestmark = pytest.mark.timeout(60)

NOTES = """
    with open(f"attempts-{rank}", "a") as file:
        file.write(f"{attempt} {os.environ['MASTER_PORT']} {os.environ['UNISONO_JOB']}\\n")
"""


def test_the_whole_group_starts_again_on_a_new_port(run, tmp_path):
    code, _, err = run(
        NOTES
        + """
    sys.exit(4 if attempt < 2 and rank == 1 else 0)
    """,
        "-n",
        "2",
        "--max-restarts",
        "2",
        "--name",
        "twice",
    )
    assert code == 0
    assert re.findall(r"^unisono: worker 1 on \S+ (.*)$", err, re.MULTILINE) == [
        "failed with exit code 4. All workers restart: attempt 1, 1 restart left.",
        "failed with exit code 4. All workers restart: attempt 2, 0 restarts left.",
    ]
    for rank in (0, 1):
        notes = [line.split() for line in (tmp_path / f"attempts-{rank}").read_text().splitlines()]
        attempts, ports, jobs = zip(*notes, strict=True)
        assert attempts == ("0", "1", "2")
        assert len(set(ports)) == 3
        assert len(set(jobs)) == 1
    assert sorted(path.name for path in (tmp_path / "runs/twice/logs").iterdir()) == [f"attempt-{k}" for k in range(3)]
    events = [json.loads(line) for line in (tmp_path / "runs/twice/events.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == ["attempt", "failed", "attempt", "failed", "attempt", "end"]
    assert [event["workers"] for event in events if event["event"] == "attempt"] == [2, 2, 2]
    assert re.fullmatch(r"worker 1 on \S+ failed with exit code 4", events[1]["cause"])
    assert (events[-1]["code"], events[-1]["version"]) == (0, 1)


def test_a_job_that_slurm_has_requeued_counts_on(run, tmp_path):
    flags = ("--max-restarts", "2", "--name", "requeued")
    for requeues in ({}, {"SLURM_RESTART_COUNT": "1"}):
        code, _, err = run(NOTES + "    sys.exit(4 if attempt == 3 else 0)", *flags, env=requeues)
        assert code == 0, err
    attempts = [line.split()[0] for line in (tmp_path / "attempts-0").read_text().splitlines()]
    assert attempts == ["0", "3", "4"]
    logs = sorted(path.name for path in (tmp_path / "runs/requeued/logs").iterdir())
    assert logs == ["attempt-0", "attempt-3", "attempt-4"]


@pytest.mark.slow
def test_a_requeued_job_does_not_mix_its_logs_with_those_of_attempts_that_did_not_count(run, tmp_path):
    flags = ("--max-restarts", "1", "--name", "requeued")
    code, _, _ = run(NOTES + "    sys.exit([75, 75, 3, 0][attempt])", *flags)  # four attempts, one of which counts
    assert code == 0
    code, _, _ = run(NOTES, *flags, env={"SLURM_RESTART_COUNT": "1"})
    assert code == 0
    attempts = [line.split()[0] for line in (tmp_path / "attempts-0").read_text().splitlines()]
    assert attempts == ["0", "1", "2", "3", "4"]


def test_a_port_that_is_taken_at_a_restart_is_passed_over_on_one_machine(run, tmp_path):
    with hold_free_ports(1) as (taken,):
        flags = ("--master-port", str(taken - 1), "--max-restarts", "1")
        code, _, err = run(NOTES + "    sys.exit(0 if attempt else 3)", *flags)
    assert code == 0, err
    ports = [int(line.split()[1]) for line in (tmp_path / "attempts-0").read_text().splitlines()]
    assert taken not in ports
    assert ports == sorted(set(ports))


def test_a_port_that_is_taken_at_a_restart_ends_the_job_with_the_code_of_the_failure(run, tmp_path):
    machines = ("--nnodes", "2", "--node-rank", "0", "--master-addr", "127.0.0.1", "--name", "job")
    with hold_free_ports(1) as (taken,):
        flags = (*machines, "--master-port", str(taken - 1), "--max-restarts", "1")
        code, _, err = run(NOTES + "    sys.exit(3)", *flags)
    assert code == 3
    assert f"unisono: Port {taken} of this machine is taken" in err
    events = [json.loads(line) for line in (tmp_path / "runs/job/events.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == ["attempt", "failed", "end"]
    assert events[-1]["code"] == 3


def test_a_folder_that_takes_no_logs_is_an_error_that_names_it(run, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "logs").touch()  # like a folder of another user, which root may write to
    code, _, err = run("", "--run-dir", "mine")
    assert code == 2
    assert re.fullmatch(r"unisono run: The logs of the workers .*/mine/logs.* --run-dir DIR\n", err)


@pytest.mark.slow
def test_when_restarts_are_used_up_the_last_cause_is_reported(run, tmp_path):
    code, _, err = run(NOTES + "    raise ValueError(f'attempt {attempt}')", "-n", "2", "--max-restarts", "1")
    assert code == 1
    assert err.endswith("    ValueError: attempt 1\n")
    assert len((tmp_path / "attempts-0").read_text().splitlines()) == 2


@pytest.mark.slow
def test_a_preempted_worker_uses_up_no_restart(run, tmp_path):
    code, _, err = run(
        NOTES
        + """
    from unisono_launch.launch import PREEMPTED
    sys.exit([PREEMPTED, 1, 0][attempt])
    """,
        "--max-restarts",
        "1",
    )
    assert code == 0
    assert "asked to be restarted (exit code 75). All workers restart in 1 s: attempt 1, 1 restart left." in err
    assert "attempt 2, 0 restarts left" in err


@pytest.mark.slow
def test_without_restarts_the_exit_code_says_that_the_job_was_preempted(run, tmp_path):
    code, _, _ = run(NOTES + "    sys.exit(75)")
    assert code == 75
    assert len((tmp_path / "attempts-0").read_text().splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 75), (signal.SIGINT, 130)])
def test_a_signal_while_waiting_for_a_restart_ends_the_job(start, number, code):
    """The workers have saved: after SIGTERM, a scheduler is asked to start the job again."""
    launcher = start("Path(f'try-{attempt}').touch(); sys.exit(75)", "--max-restarts", "1")
    launcher.wait_for("try-1")
    time.sleep(0.5)  # it waits 2 s before the next
    launcher.send(number)
    assert launcher.finish()[0] == code
    assert not (launcher.folder / "try-2").exists()


@pytest.mark.slow
def test_statuses_of_the_last_attempt_are_not_those_of_the_next(run, tmp_path):
    code, _, err = run(
        """
        from unisono_launch.launch import write_status
        if attempt == 0:
            write_status(os.environ["UNISONO_STATUS"], "fit", 7)
        sys.exit(3)
        """,
        "--max-restarts",
        "1",
        "--name",
        "again",
    )
    assert code == 3
    assert "failed with exit code 3 at step 7 (fit). All workers restart" in err
    assert re.search(r"failed with exit code 3\.\n", err)
    record = json.loads((tmp_path / "runs/again/logs/attempt-0/worker-0.status").read_bytes())
    assert (record["step"], record["phase"]) == (7, "fit")
