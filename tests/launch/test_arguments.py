"""The words of the command line."""

import pytest

from unisono_launch.engines import run
from unisono_launch.launch._arguments import parse
from unisono_launch.launch._options import UsageError


@pytest.fixture(autouse=True)
def in_a_folder_with_a_script(tmp_path, monkeypatch):
    (tmp_path / "train.py").touch()
    (tmp_path / "package").mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "program"),
    [
        ("train.py", ("train.py",)),
        ("train.py --lr 1 -n 3", ("train.py", "--lr", "1", "-n", "3")),
        ("train.py -- --lr 1", ("train.py", "--lr", "1")),
        ("train.py -- -- x", ("train.py", "--", "x")),
        ("-n 2 -- train.py --lr 1", ("train.py", "--lr", "1")),
        ("-m package.train --lr 1", ("-m", "package.train", "--lr", "1")),
        ("-n 2 -m package.train -- --lr 1", ("-m", "package.train", "--lr", "1")),
        ("-n2 --devices=cpu:2 train.py -m", ("train.py", "-m")),
    ],
)
def test_the_scripts_own_words_are_left_alone(words, program):
    assert parse(words.split()).program == program


@pytest.mark.parametrize("flag", ["-n 3", "-n3", "--nproc-per-node 3", "--nproc_per_node=3", "--nproc-per-node=3"])
def test_the_number_of_workers_has_torchruns_names(flag):
    assert parse([*flag.split(), "train.py"]).num_workers == 3


def test_torchruns_flags_keep_their_names_in_both_spellings():
    words = "--nnodes 2 --node_rank 1 --master_addr a --master_port 1234 --max_restarts 3 train.py"
    options = parse(words.split())
    assert (options.nnodes, options.node_rank, options.master_addr) == (2, 1, "a")
    assert (options.master_port, options.max_restarts) == (1234, 3)
    assert parse(words.replace("_", "-").split()) == options


def test_a_fixed_range_is_a_number():
    assert parse(["--nnodes", "2:2", "--node-rank", "0", "--master-addr", "a", "train.py"]).nnodes == 2
    assert parse(["-n", "2:2", "train.py"]).num_workers == 2


@pytest.mark.parametrize(
    ("words", "restarts"),
    [
        ("train.py", 0),
        ("--max-restarts 2 train.py", 2),
        ("-n 1:2 train.py", 3),
        ("--nnodes 1:2 train.py", 3),
        ("-n 1:2 --max-restarts 0 train.py", 0),
    ],
)
def test_an_elastic_job_starts_again_by_default(words, restarts):
    assert parse(words.split()).restarts == restarts


# Each error says what to type.
ERRORS = [
    ("", r"No script was given. Type: unisono run \[options\]"),
    ("-n 2", "No script was given"),
    ("-m", "No script was given"),
    (
        "missing.py",
        r"There is no script 'missing.py' here \(/.*\). Name one that exists, or a module: -m package.module",
    ),
    ("package", "'package' is a folder. Name a script in it, or a module: -m package.module"),
    ("-n 0 train.py", "-n 0 starts no worker. Give at least one, as in -n 2."),
    ("-n two train.py", "-n two is not a number of workers. Give one, as in -n 2, or -n auto."),
    ("-n 4:1 train.py", "-n 4:1: the least comes first. Write -n 1:4"),
    ("-n 0:2 train.py", "-n 0:2 starts no worker"),
    ("-n 1:two train.py", "-n 1:two is not a number of workers. Give one, as in -n 2, or -n auto, or -n 1:2 for one"),
    ("-n 1:2 --nnodes 2 train.py", "every machine has the same number of workers. Give one, as in -n 2"),
    ("-n 1:2 --nnodes 1:2 train.py", "every machine has the same number of workers"),
    ("--nnodes 4:1 train.py", "--nnodes 4:1: the least comes first. Write --nnodes 1:4"),
    ("--nnodes 0:4 train.py", "--nnodes 0:4 is less than one machine"),
    ("--nnodes 1: train.py", "--nnodes 1: is not a number of machines"),
    ("--nnodes 1:4 --node-rank 4 train.py", "is not one of 4 machines. Give 0 on the first, 3 on the last."),
    ("--nnodes 1:4 --master-port 1 train.py", "--master-port 1 is not a port from 2 to 65532"),
    ("--join-window -1 train.py", "--join-window -1.0 is not a number of seconds. Give one, as in --join-window 30."),
    ("--nnodes some train.py", "--nnodes some is not a number of machines. Give one, as in --nnodes 2."),
    ("--nnodes 0 train.py", "--nnodes 0 is less than one machine. Give at least 1."),
    ("--node-rank 1 train.py", "--node-rank 1 has no meaning without --nnodes. Add --nnodes N."),
    (
        "--nnodes 2 --node-rank 2 train.py",
        "--node-rank 2 is not one of 2 machines. Give 0 on the first, 1 on the last.",
    ),
    ("--master-port 70000 train.py", "--master-port 70000 is not a port from 1 to 65535"),
    ("--master-port 65535 --max-restarts 1 train.py", "is not a port from 1 to 65534"),
    ("--max-restarts -1 train.py", "--max-restarts -1 is negative. Give 0 or more."),
    ("--max-restarts many train.py", "invalid int value: 'many'. Type: unisono run"),
    (
        "--run-dir gs://b/runs train.py",
        r'is a URL, .* Give a folder, and the URL to the script: fit\(resume="gs://b/runs"',
    ),
    ("--grace -1 train.py", "--grace -1.0 is not a number of seconds. Give one, as in --grace 30."),
    ("--grace nan train.py", "--grace nan is not a number of seconds"),
    ("--name a/b train.py", "--name 'a/b' is not the name of a folder. Give a plain name, as in --name mnist"),
    ("--epochs 3 train.py", "unrecognized arguments: --epochs. Type: unisono run .*all options: unisono run --help"),
    ("--nproc 2 train.py", "unrecognized arguments: --nproc"),
    ("--standalone train.py", "--standalone is not a flag of unisono run. One machine and a free port are the default"),
    ("--rdzv_backend=c10d train.py", "write --nnodes N --node-rank R --master-addr A instead"),
    ("--rdzv-endpoint host:1 train.py", "write --nnodes N --node-rank R --master-addr A instead"),
]


@pytest.mark.parametrize(("words", "message"), ERRORS, ids=[words or "nothing" for words, _ in ERRORS])
def test_an_error_says_what_to_type(words, message):
    with pytest.raises(UsageError, match=message):
        parse(words.split())


def test_help_shows_examples_and_exit_codes(capsys):
    with pytest.raises(SystemExit) as ended:
        parse(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert "unisono run -n 4 --devices cpu:2 train.py" in text
    assert "69 lost, 75 preempted, 124 stuck, 130 interrupted" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--device cpu:2 train.py", "Did you mean --devices instead of --device?"),
        ("--max-restart 2 train.py", "Did you mean --max-restarts instead of --max-restart?"),
        ("-N 2 train.py", "unisono run --on slurm -N 2"),
    ],
)
def test_a_wrong_option_names_the_right_one(words, message):
    with pytest.raises(UsageError) as caught:
        parse(words.split())
    assert message in str(caught.value)


@pytest.mark.parametrize(("engine", "advice"), [("rya", "--on ray"), ("slrum", "--on slurm"), ("", "--on slurm")])
def test_the_error_of_an_unknown_engine_names_the_known_ones(engine, advice, capsys):
    assert run(["--on", engine, "train.py"]) == 2
    assert f"the engines are ray, slurm, kubernetes. Type, for instance: {advice}" in capsys.readouterr().err
