"""Mistakes in clusters and commands."""

from tests.errors.mistake import Mistake


def _tf_config(value: str) -> str:
    set_it = f'import os\n\nos.environ["TF_CONFIG"] = {value}\n'
    return set_it + "import unisono\n\nstrategy = unisono.MultiWorkerMirroredStrategy()\n"


_CLUSTER = '{"cluster": {"worker": ["localhost:PORT", "localhost:24002"]}, "task": {"type": "worker", "index": INDEX}}'

WORKERS = [
    Mistake(
        title="`TF_CONFIG` with single quotes",
        typed=_tf_config("\"{'cluster': {'worker': ['host1:2222']}, 'task': {'type': 'worker', 'index': 0}}\""),
        at="MultiWorkerMirroredStrategy()",
        given="",
        says=("TF_CONFIG is not JSON", 'Expected: {"cluster"'),
        do="Write it with `json.dumps`.",
    ),
    Mistake(
        title="The index of a worker that does not exist",
        typed=_tf_config(f"'{_CLUSTER}'").replace("PORT", "24001").replace("INDEX", "2"),
        at="MultiWorkerMirroredStrategy()",
        given="",
        says=("TF_CONFIG says that this is 'worker' 2", "It has worker 0, worker 1", "the index of one of these"),
        do="Count workers from 0.",
    ),
    Mistake(
        title="The port of the first worker is in use",
        typed=(
            'import os\nimport socket\n\nheld = socket.create_server(("localhost", 0))\n'
            + _tf_config(f"'{_CLUSTER}'.replace('PORT', str(held.getsockname()[1]))").replace("INDEX", "0")[
                len("import os\n\n") :
            ]
        ),
        at="MultiWorkerMirroredStrategy()",
        how="process",
        says=("is in use by another", "ss -ltnp", "another\nport in TF_CONFIG"),
        do="End the program that uses it, or choose another port.",
    ),
    Mistake(
        title="The strategy for several workers is created too late",
        typed=(
            'cluster = {"worker": ["localhost:24001", "localhost:24002"]}\n'
            'task = {"type": "worker", "index": 0}\n'
            'os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": task})\nweights = keras.ops.ones(3)\n'
            "strategy = unisono.MultiWorkerMirroredStrategy()\n"
        ),
        given="",
        at="MultiWorkerMirroredStrategy()",
        says=("JAX has already started in this process", "directly after the imports"),
        do="Create the strategy directly after `import unisono`.",
    ),
    Mistake(
        title="No script",
        typed="unisono run -n 2",
        how="command",
        says=("No script was given", "unisono run [options] (script.py | -m module)"),
        do="`unisono run -n 2 train.py`",
    ),
    Mistake(
        title="A script that does not exist",
        typed="unisono run trian.py",
        how="command",
        says=("There is no script 'trian.py'", "Did you mean 'train.py'?"),
        do="`unisono run train.py`",
    ),
    Mistake(
        title="`run` is left out",
        typed="unisono train.py",
        how="command",
        says=("'train.py' is a script", "Type: unisono run train.py"),
        do="`unisono run train.py`",
    ),
    Mistake(
        title="`python` before the script",
        typed="unisono run python train.py",
        how="command",
        says=("Leave 'python' out", "Type: unisono run train.py"),
        do="`unisono run train.py`",
    ),
    Mistake(
        title="Options after the script",
        typed="unisono run train.py -n 4",
        how="command",
        is_warning=True,
        says=("-n stands after the script and is passed to it", "type: unisono run -n … train.py"),
        do="`unisono run -n 4 train.py`",
    ),
    Mistake(
        title="No workers",
        typed="unisono run -n 0 train.py",
        how="command",
        says=("-n 0 starts no worker", "as in -n 2"),
        do="`unisono run -n 2 train.py`",
    ),
    Mistake(
        title="A misspelled option",
        typed="unisono run --device cpu:2 train.py",
        how="command",
        says=("unrecognized arguments: --device", "Did you mean --devices"),
        do="`unisono run --devices cpu:2 train.py`",
    ),
    Mistake(
        title="A misspelled engine",
        typed="unisono run --on slrum train.py",
        how="command",
        says=("the engines are ray, slurm, kubernetes", "--on slurm"),
        do="`unisono run --on slurm train.py`",
    ),
    Mistake(
        title="Several machines without their addresses",
        typed="unisono run --nnodes 2 train.py",
        how="command",
        says=("neither SLURM nor Kubernetes", "--node-rank R --master-addr A"),
        do="`unisono run --nnodes 2 --node-rank 0 --master-addr 10.0.0.1 train.py`, and with rank 1 on the second.",
    ),
    Mistake(
        title="A script for TensorFlow",
        typed="unisono run tensorflow_script.py",
        how="command",
        says=("No module named 'tensorflow'", "unisono run --as-tensorflow"),
        do="`unisono run --as-tensorflow tensorflow_script.py`",
    ),
]
