"""The options of `unisono run --on kubernetes`: what is refused, and with which words."""

import shutil

import pytest

from unisono_launch.engines import run
from unisono_launch.engines.kubernetes._arguments import parse
from unisono_launch.launch import UsageError

IMAGE = ["--image", "trainer:1"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train.py"], "No image was given.*--image IMAGE"),
        (IMAGE, "No script was given"),
        ([*IMAGE, "-N", "0", "train.py"], "-N 0 is less than one pod"),
        ([*IMAGE, "-N", "two", "train.py"], "-N two is not a whole number. Give one, as in -N 2"),
        ([*IMAGE, "-N", "2:4", "train.py"], "-N 2:4 .* Kubernetes keeps the number of pods"),
        ([*IMAGE, "-n", "2:4", "train.py"], "-n 2:4 is not a number of workers per pod"),
        ([*IMAGE, "--gpus-per-node", "-1", "train.py"], "--gpus-per-node -1 is negative"),
        ([*IMAGE, "--max-restarts", "-1", "train.py"], "--max-restarts -1 is negative"),
        ([*IMAGE, "--grace", "-1", "train.py"], "--grace -1 is negative"),
        ([*IMAGE, "--name", "My_Job", "train.py"], "--name 'My_Job' is not a name .* as in --name mnist"),
        ([*IMAGE, "--name", "1st", "train.py"], "with a letter first"),
        ([*IMAGE, "--name", "a" * 49, "train.py"], "at most 48 lower-case letters"),
        ([*IMAGE, "--kind", "jobset", "-N", "11", "--name", "a" * 45, "train.py"], "for 11 pods. Give at most 44"),
        ([*IMAGE, "--namespace", "a.b", "train.py"], "--namespace 'a.b' is not a namespace"),
        (["--image", "a b", "train.py"], "--image 'a b' is not an image"),
        ([*IMAGE, "--volume-claim", "Runs", "train.py"], "--volume-claim 'Runs' is not a PersistentVolumeClaim"),
        ([*IMAGE, "--volume-claim", "runs:mnt", "train.py"], "as in .* --volume-claim runs:/mnt/runs"),
        ([*IMAGE, "--volume-claim", "runs:", "train.py"], "is not a PersistentVolumeClaim"),
        ([*IMAGE, "--env", "DEBUG", "train.py"], "--env 'DEBUG' is not NAME=VALUE"),
        ([*IMAGE, "--env", "JAX_PROCESS_ID=0", "train.py"], "follows from -N. Leave it out"),
        ([*IMAGE, "--kind", "job", "train.py"], "trainjob"),
        ([*IMAGE, "--kind", "jobset", "--runtime", "jax-distributed", "train.py"], "a JobSet has no runtime"),
        ([*IMAGE, "--runtime", "jax_distributed", "train.py"], "--runtime 'jax_distributed' is not a name"),
        ([*IMAGE, "--runtime", "jax-distributed", "--max-restarts", "1", "train.py"], "its runtime does"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_happens(arguments, words):
    with pytest.raises(UsageError, match=words):
        parse(arguments)


def test_the_longest_name_is_accepted():
    assert len(parse([*IMAGE, "--name", "a" * 48, "train.py"]).name) == 48


@pytest.mark.parametrize(
    ("program", "start"),
    [
        (["src/My_train.py"], "my-train-20"),
        (["-m", "package.fit"], "fit-20"),
        (["7.py"], "job-7-20"),
        (["_.py"], "job-20"),
    ],
)
def test_a_job_without_a_name_is_named_after_script_and_time(program, start):
    assert parse([*IMAGE, *program]).name.startswith(start)


def test_a_long_script_name_is_shortened():
    assert len(parse([*IMAGE, "-N", "1000", f"{'train-' * 20}.py"]).name) <= 40


def test_without_kubectl_one_sentence_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert run(["--on", "kubernetes", *IMAGE, "--volume-claim", "runs", "train.py"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("unisono run: There is no kubectl on the PATH. Install it; or add --dry-run")
    assert captured.err.count("\n") == 1


def test_bytes_that_are_no_text_are_refused(capsys):
    assert run(["--on", "kubernetes", *IMAGE, "--dry-run", "train.py", "\udcff"]) == 2
    assert "cannot be part of a manifest" in capsys.readouterr().err
