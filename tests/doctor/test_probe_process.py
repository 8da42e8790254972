"""The process that uses JAX may hang or die. Real processes, without JAX."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from unisono_launch.doctor._probe_checks import PROBE_CHECKS, judge_answer
from unisono_launch.doctor._probe_process import Answer, start_probe

FIRST = 'print(\'{"check": "import", "facts": {"x": 1}}\', flush=True)\n'


def python(code: str) -> list[str]:
    return [sys.executable, "-c", "import os, sys, time\n" + code]


def test_a_stage_that_hangs_is_ended_and_those_behind_it_are_not_tried() -> None:
    with start_probe({}, python(FIRST + "print('so far', file=sys.stderr, flush=True); time.sleep(60)")) as ask:
        assert ask("import", 30).facts == {"x": 1}
        began = time.monotonic()
        hung = ask("devices", 0.5)
        assert time.monotonic() - began < 5
        assert hung == Answer(error="It did not end within 0.5 seconds.", details="so far\n")
        assert ask("all_reduce", 30).untried == "devices"
        assert ask("training", 30).untried == "devices"


def test_a_process_that_dies_is_named_with_its_signal_and_its_last_words() -> None:
    with start_probe({}, python(FIRST + "print('out of memory', file=sys.stderr, flush=True); os.abort()")) as ask:
        ask("import", 30)
        died = ask("devices", 30)
        assert died.error == "Its process ended with signal SIGABRT. Its last output:\nout of memory"
        assert ask("all_reduce", 30).untried == "devices"


def test_a_process_that_cannot_be_started_is_an_answer() -> None:
    with start_probe({}, ["/nowhere/python"]) as ask:
        assert "could not be started" in (ask("import", 30).error or "")


def test_nothing_is_left_when_the_doctor_is_interrupted(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    code = f"open({str(alive)!r}, 'w').close()\ntime.sleep(60)"

    def interrupted() -> None:
        with start_probe({}, python(code)):
            while not alive.exists():
                time.sleep(0.01)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()  # tests/conftest.py fails a test that leaves a process behind


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for the process in /proc")
def test_nothing_is_left_when_the_doctor_is_killed() -> None:
    command = [sys.executable, "-m", "unisono_launch", "doctor", "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as doctor:
        children = Path(f"/proc/{doctor.pid}/task/{doctor.pid}/children")
        while not children.read_text():
            time.sleep(0.01)
        time.sleep(0.5)  # it imports JAX now
        doctor.kill()  # tests/conftest.py fails a test that leaves a process behind


def test_the_process_takes_no_memory_from_a_running_training_and_does_not_write_its_status() -> None:
    code = (
        "import json; kept = {n: os.environ.get(n) for n in ('XLA_PYTHON_CLIENT_PREALLOCATE', 'UNISONO_STATUS', 'A')}\n"
        "print(json.dumps({'check': 'import', 'facts': kept}), flush=True)"
    )
    with start_probe({"UNISONO_STATUS": "/a/file", "A": "b"}, python(code)) as ask:
        assert ask("import", 30).facts == {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "UNISONO_STATUS": None, "A": "b"}


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.name)
def test_every_check_has_a_remedy_for_every_way_to_fail(check) -> None:
    failed = judge_answer(check, Answer(error="RuntimeError: no", details="Traceback …"), {})
    assert (failed.status, failed.text, failed.remedy) == ("error", "RuntimeError: no", check.remedy)
    untried = judge_answer(check, Answer(untried="import"), {})
    assert (untried.status, untried.remedy) == ("warning", "First fix `import`.")


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("all_reduce", {"num_devices": 2, "num_bytes": 8, "correct": False, "first_seconds": 1.0, "milliseconds": 1.0}),
        ("training", {"num_replicas": 2, "correct": False, "difference": 0.5, "seconds": 1.0}),
    ],
)
def test_a_wrong_result_is_an_error(name: str, facts: dict) -> None:
    (check,) = [check for check in PROBE_CHECKS if check.name == name]
    assert judge_answer(check, Answer(facts=facts), {}).status == "error"
    assert judge_answer(check, Answer(facts=facts | {"correct": True}), {}).status == "ok"
