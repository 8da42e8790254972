"""Applying and following a job, with a stand-in for kubectl.

The stand-in is a real executable on the PATH that records what it is asked, and answers from files. It tests our own
logic: what is shown, when it ends, with which code. It says nothing about Kubernetes.
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from unisono_launch.engines import run
from unisono_launch.engines.kubernetes import _follow

# Every answer about the job is the next file of "answers": its first line is the job, the second the pods. Of a pod's
# output, which a script prints with times, it leaves out the seconds before --since-time, as Kubernetes does.
STAND_IN_FOR_KUBECTL = """#!/bin/bash
cd "$(dirname "$0")"
echo "$*" >> calls
case "$*" in
    *--ignore-not-found*) cat existing 2> /dev/null; exit 0 ;;
    *"apply -f -") cat > applied; echo applied ;;
    *"get pods"*) sed -n 2p "answers/$(cat number)" ;;
    *"get "*) number=$(( $(cat number) + 1 )); [[ -e answers/$number ]] || number=$(( number - 1 ))
        echo "$number" > number; sed -n 1p "answers/$number" | grep . || { echo "no route to host" >&2; exit 1; } ;;
    *"logs --follow --timestamps --container node"*)
        [[ $* =~ --since-time=([^.]*) ]] || exec bash "logs-${*: -1}"
        bash "logs-${*: -1}" | SINCE=${BASH_REMATCH[1]} perl -ne 'print if substr($_, 0, 19) ge $ENV{SINCE}'
        exit "${PIPESTATUS[0]}" ;;
    *) echo "unexpected: $*" >&2; exit 9 ;;
esac
"""

JOB = ["--on", "kubernetes", "--image", "trainer:1", "--name", "mnist", "--volume-claim", "runs"]
DONE = {"type": "Complete", "status": "True"}
FAILED = {"type": "Failed", "status": "True", "reason": "ReachedMaxRestarts", "message": "jobset failed"}


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """The folder of the stand-in, which is the only kubectl on the PATH."""
    (tmp_path / "answers").mkdir()
    (tmp_path / "number").write_text("0")
    (tmp_path / "kubectl").write_text(STAND_IN_FOR_KUBECTL)
    (tmp_path / "kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(_follow, "_POLL_SECONDS", 0.0)
    return tmp_path


def answer(cluster: Path, *states):
    """Each state is the conditions of the job and its pods; None: kubectl fails."""
    for number, state in enumerate(states, 1):
        job, pods = ("", "") if state is None else map(json.dumps, state)
        (cluster / "answers" / str(number)).write_text(f"{job}\n{pods}\n")


def state(*pods, conditions=()):
    return {"status": {"conditions": list(conditions)}}, {"items": list(pods)}


def line(second, text):
    """A command that prints a line of a pod's output as `kubectl logs --timestamps` does."""
    return f"echo 2026-01-01T12:00:{second:02}.000000001Z {text}"


def pod(name, phase, *, index=0, code=None, at="12:00", waiting=None):
    terminated = None if code is None else {"exitCode": code, "finishedAt": f"2026-01-01T{at}:00Z"}
    states = {"waiting": waiting} if waiting else {"terminated": terminated} if terminated else {"running": {}}
    return {
        "metadata": {
            "name": name,
            "creationTimestamp": f"2026-01-01T{at}:00Z",
            "annotations": {"batch.kubernetes.io/job-completion-index": str(index)},
        },
        "spec": {"containers": [{"name": "node"}, {"name": "sidecar"}]},
        "status": {"phase": phase, "containerStatuses": [{"name": "node", "state": states}]},
    }


def test_a_job_is_applied_and_followed_over_a_restart_to_its_end(cluster, capfd):
    full = {"reason": "ImagePullBackOff", "message": "not found"}
    answer(
        cluster,
        state(pod("mnist-a", "Pending")),
        state(pod("mnist-a", "Pending", waiting=full)),
        state(pod("mnist-a", "Pending", waiting=full)),
        state(pod("mnist-a", "Running"), pod("mnist-1", "Running", index=1)),
        None,  # the API server does not answer for a moment
        state(pod("mnist-b", "Running", at="13:00")),
        state(pod("mnist-b", "Succeeded", code=0, at="13:00"), conditions=[DONE]),
    )
    (cluster / "logs-mnist-a").write_text(line(1, "step 1"))
    (cluster / "logs-mnist-b").write_text(line(2, "step 2"))
    assert run([*JOB, "--namespace", "research", "train.py"]) == 0
    shown = capfd.readouterr()
    assert shown.out == "step 1\nstep 2\n"
    assert shown.err == "applied\nunisono: mnist-a: ImagePullBackOff: not found\nunisono: trainjob/mnist is done.\n"
    assert "kind: TrainJob" in (cluster / "applied").read_text()
    calls = (cluster / "calls").read_text().splitlines()
    assert calls[1] == "--namespace research apply -f -"
    assert all(call.startswith("--namespace research ") for call in calls)


def test_output_continues_after_a_broken_connection_and_a_restart_in_place(cluster, capfd):
    again = pod("mnist-a", "Running")
    again["status"]["containerStatuses"][0]["restartCount"] = 1
    running = state(pod("mnist-a", "Running"))
    ended = pod("mnist-a", "Running", code=0)
    ended["status"]["containerStatuses"][0]["restartCount"] = 1
    waiting = state(pod("mnist-a", "Running", waiting={"reason": "CrashLoopBackOff"}))
    answer(cluster, running, running, waiting, state(again), state(ended), state(ended, conditions=[DONE]))
    (cluster / "logs-mnist-a").write_text(
        f"""echo >> starts
        case $(wc -l < starts) in
            1) {line(1, "step 1")}; exit 1 ;;
            2 | 3) {line(1, "step 1")}; {line(2, "step 2")} ;;
            *) {line(2, "step 3")} ;;
        esac"""
    )
    assert run([*JOB, "train.py"]) == 0
    assert capfd.readouterr().out == "step 1\nstep 2\nstep 3\n"
    calls = [call for call in (cluster / "calls").read_text().splitlines() if call.startswith("logs")]
    since = [re.findall(r"--since-time=2026-01-01T12:00:0(\d)\S*Z mnist-a$", call) for call in calls]
    assert since == [[], ["1"], ["2"], ["2"], ["2"]]


def test_a_silent_stream_that_was_cut_is_followed_again_until_it_ends_after_the_container(cluster, capfd):
    """kubectl ends with 0 when a load balancer closes the connection in good order. A sidecar has ended before."""
    running, ended = pod("mnist-a", "Running"), pod("mnist-a", "Succeeded", code=0)
    running["status"]["containerStatuses"].append({"name": "sidecar", "state": {"terminated": {"exitCode": 0}}})
    answer(cluster, *[state(running)] * 3, state(ended), state(ended, conditions=[DONE]))
    steps = " ".join(f"[[ {number} -gt $num ]] || {line(number // 2, f'step {number}')};" for number in range(1, 5))
    (cluster / "logs-mnist-a").write_text(f"echo >> starts; num=$(wc -l < starts); {steps}")
    assert run([*JOB, "train.py"]) == 0
    assert capfd.readouterr().out == "step 1\nstep 2\nstep 3\nstep 4\n"


def test_a_line_that_was_cut_off_is_shown_when_it_is_whole_or_the_last(cluster, capfd):
    running, ended = state(pod("mnist-a", "Running")), pod("mnist-a", "Succeeded", code=0)
    answer(cluster, running, state(ended), state(ended, conditions=[DONE]))
    (cluster / "logs-mnist-a").write_text(
        f"""echo >> starts
        case $(wc -l < starts) in
            1) {line(1, "step 1")}; {line(1, "st")} | head -c -1 ;;
            *) {line(1, "step 1")}; {line(1, "step 2")}; {line(1, "step 3")} | head -c -1 ;;
        esac"""
    )
    assert run([*JOB, "train.py"]) == 0
    assert capfd.readouterr().out == "step 1\nstep 2\nstep 3"


def test_the_last_words_of_a_container_that_is_restarted_in_place_are_shown(cluster, capfd):
    again, ended = pod("mnist-a", "Running"), pod("mnist-a", "Succeeded", code=0)
    for each in (again, ended):
        each["status"]["containerStatuses"][0]["restartCount"] = 1
    answer(cluster, state(pod("mnist-a", "Running")), state(again), state(ended, conditions=[DONE]))
    (cluster / "logs-mnist-a").write_text(
        f"""echo >> starts
        case $(wc -l < starts) in
            1) {line(1, "step 1")}; {line(1, "the reason")} | head -c -1 ;;
            *) {line(2, "step 2")} ;;
        esac"""
    )
    assert run([*JOB, "train.py"]) == 0
    assert capfd.readouterr().out == "step 1\nthe reasonstep 2\n"


def test_output_that_cannot_be_had_does_not_stop_the_following(cluster, monkeypatch):
    monkeypatch.setattr(_follow, "_MAX_ERRORS", 3)
    monkeypatch.setattr(_follow, "_POLL_SECONDS", 10.0)
    running = state(pod("mnist-a", "Running"))
    monkeypatch.setattr(_follow.time, "sleep", lambda _: None)
    answer(cluster, *[running] * 9, state(pod("mnist-a", "Succeeded", code=0), conditions=[DONE]))
    (cluster / "logs-mnist-a").write_text("exit 1")
    assert run([*JOB, "train.py"]) == 0
    calls = (cluster / "calls").read_text().splitlines()
    assert sum(call.startswith("logs") for call in calls) == 3


def test_a_failed_job_ends_with_the_code_of_the_pod_that_failed_first(cluster, capfd):
    pods = [pod("mnist-a", "Failed", code=69, at="12:00"), pod("mnist-1", "Failed", index=1, code=3, at="12:01")]
    answer(cluster, state(*pods, conditions=[FAILED]))
    (cluster / "logs-mnist-a").write_text(line(1, "a peer was lost"))
    assert run([*JOB, "--kind", "jobset", "train.py"]) == 3
    shown = capfd.readouterr()
    assert shown.out == "a peer was lost\n"
    assert "unisono: jobset/mnist has failed: ReachedMaxRestarts: jobset failed\n" in shown.err
    assert "with exit code 3: kubectl logs mnist-1\n" in shown.err


def test_a_job_that_failed_without_a_pod_ends_with_1(cluster, capfd):
    answer(cluster, state(conditions=[FAILED | {"reason": "TrainingRuntimeNotSupported", "message": "unknown"}]))
    assert run([*JOB, "train.py"]) == 1
    assert "TrainingRuntimeNotSupported" in capfd.readouterr().err


def test_a_job_of_that_name_is_not_applied_again(cluster, capfd):
    (cluster / "existing").write_text("trainjob.trainer.kubeflow.org/mnist\n")
    assert run([*JOB, "train.py"]) == 2
    assert "delete it and start again: kubectl delete trainjob/mnist" in capfd.readouterr().err
    assert not (cluster / "applied").exists()


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            'error: the server doesn\'t have a resource type "trainjob"',
            'error: the server doesn\'t have a resource type "trainjob". Kubeflow Trainer is not installed .*jobset',
        ),
        (
            "E1116 13:53:43.749282   31727 memcache.go:265] refused\nThe connection to the server was refused",
            "-o name: The connection to the server was refused$",
        ),
    ],
)
def test_what_kubectl_refuses_is_reported_in_its_words(cluster, capfd, said, shown):
    (cluster / "said").write_text(said)
    (cluster / "kubectl").write_text("#!/bin/bash\ncat $(dirname $0)/said >&2\nexit 1\n")
    assert run([*JOB, "train.py"]) == 2
    assert re.search(rf"^unisono run: kubectl get trainjob/mnist .*{shown}", capfd.readouterr().err)


def test_a_cluster_that_no_longer_answers_ends_the_following(cluster, capfd):
    answer(cluster, None)
    assert run([*JOB, "train.py"]) == 2
    shown = capfd.readouterr().err
    assert "the job can no longer be followed: kubectl get trainjob/mnist -o json: no route to host" in shown
    assert "kubectl delete trainjob/mnist" in shown


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_a_signal_ends_the_following_and_not_the_job(cluster, number, code):
    answer(cluster, state(pod("mnist-a", "Running")))
    (cluster / "logs-mnist-a").write_text("echo $$ > pid; echo step 1; exec sleep 60")
    command = [sys.executable, "-m", "unisono_launch", "run", *JOB, "train.py"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            assert process.stdout.readline() == "step 1\n"
            if number == signal.SIGINT:  # a terminal sends it to kubectl, too
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == code
    assert not Path(f"/proc/{(cluster / 'pid').read_text().strip()}").exists(), "kubectl ends with the command"
    assert "unisono: trainjob/mnist continues.\n" in errors
    assert "delete" not in (cluster / "calls").read_text()
