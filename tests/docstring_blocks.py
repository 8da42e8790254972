"""The fenced blocks in the docstrings of `src/unisono`, and what each needs to run.

They are run as the blocks of pages are (`tests/docs/README.md`), all blocks of a docstring in one namespace. It begins
with `NAMES` and, where the block uses them, a trained-on model and data. A docstring is named after its class or
function, or after its module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from tests.docs.page import Block, parse_blocks

SOURCE: Final = Path(__file__).parents[1] / "src"

# What a reader has imported.
NAMES: Final = """
import unisono  # before keras
import unisono.tf as tf
import unisono.tfds as tfds
import keras
import numpy as np
"""

_RAY: Final = "needs a Ray cluster; tests/engines trains on one"
_TRACKER: Final = "needs the tracker's package; tests/trackers trains with it"

# Why a block is only compiled.
NOT_RUN: Final = {
    "MLflow": _TRACKER,
    "MirroredStrategy": "needs two GPUs, for one of its lines",
    "OneDeviceStrategy": "needs a GPU",
    "ReportCallback": _RAY,
    "Server": "serves for as long as the process lives; tests/parameter_servers starts servers",
    "Wandb": _TRACKER,
    "find_batch_size": "needs a GPU: a CPU device does not say how much memory it has; tests/tuning passes `memory`",
    "unisono.ray": _RAY,
    "unisono.tf.python": "the lines of a script that runs with --as-tensorflow; tests/tf/scripts runs some",
}

_FAKE_TPU: Final = 'import os\nos.environ["UNISONO_FAKE_TPU"] = "8"'
_MNIST: Final = f'import os\nos.environ["UNISONO_DATASETS"] = {str(SOURCE.parent / "examples" / "data")!r}'
_SERVERS: Final = """
from tests.docs.given import start_parameter_servers
for server in start_parameter_servers():
    page_end.callback(server.stop)
page_end.callback(lambda: strategy.close())
dataset = unisono.data.Dataset.from_tensor_slices((np.ones((64, 4), "float32"), np.ones((64, 10), "float32")))
dataset = dataset.repeat().batch(32)
"""
_COORDINATOR: Final = f"""{_SERVERS}
strategy = unisono.ParameterServerStrategy(unisono.cluster_resolver.TFConfigClusterResolver())
with strategy.scope():
    weight = keras.Variable(1.0)
dataset_fn, steps = lambda: dataset, 4
@unisono.function
def step_fn(iterator):
    return weight * keras.ops.sum(next(iterator)[0])
"""
_CUSTOM_LOOP: Final = """
strategy = unisono.MirroredStrategy(["cpu:0"])
with strategy.scope():
    model, optimizer = keras.Sequential([keras.Input((20,)), keras.layers.Dense(10)]), keras.optimizers.SGD()
    optimizer.build(model.trainable_variables)
iterator = iter(dataset)
def train_step(batch):
    return model(batch[0])
"""

# Python code that runs before the block.
SETUPS: Final = {
    "Benchmark": "import time",
    "ClusterCoordinator": _COORDINATOR,
    "DatasetBuilder": _MNIST,
    "FullyShardedStrategy": "dataset = unisono.data.Dataset.from_tensor_slices((np.ones((16, 784)), np.ones((16, 10))))"
    ".batch(16)",
    "MultiWorkerMirroredStrategy": "dataset = unisono.data.Dataset.from_tensor_slices((x, np.eye(10)[y])).batch(32)",
    "ParameterServerStrategy": _SERVERS,
    "PreemptionCheckpointHandler": f"""{_CUSTOM_LOOP}
resolver, num_steps = strategy.cluster_resolver, 3
manager = unisono.checkpoint.CheckpointManager(unisono.checkpoint.Checkpoint(model=model), "runs")
""",
    "ReplicaContext": "strategy = unisono.MirroredStrategy(['cpu:0', 'cpu:1'])",
    "Strategy": "y = np.eye(10)[y]",
    "TPUClusterResolver": _FAKE_TPU,
    "TPUStrategy": _FAKE_TPU,
    "Trace": "step, train_step, batch = 1, lambda batch: None, x",
    "experimental_set_strategy": "page_end.callback(unisono.experimental_set_strategy, None)",
    "initialize_tpu_system": _FAKE_TPU,
    "set_residency": "page_end.callback(unisono.config.set_residency, 'auto')",
    "set_sequence_padding": "page_end.callback(unisono.config.set_sequence_padding, 'auto')",
    "set_sync_check": "page_end.callback(unisono.config.set_sync_check, False)",
    "unisono.checkpoint": f"{_CUSTOM_LOOP}\npage_end.callback(lambda: manager.close())",
    "unisono.tfds": _MNIST,
}

# Blocks that have to be first in their process, since they configure what JAX starts with; the imports they need.
OWN_PROCESS: Final = {
    "deterministic": "",
    "set_cpu_devices": "import unisono",
    "set_logical_device_configuration": "import unisono.tf as tf",
    "unisono.config": "",
}

# Blocks of several seconds, of which `make test` runs similar ones elsewhere.
FULL: Final = (
    "ClusterCoordinator",
    "ParameterServerStrategy",
    "deterministic",
    "find_learning_rate",
    "set_logical_device_configuration",
    "unisono.config",
)


def find_docstrings() -> dict[str, list[Block]]:
    """The blocks of every docstring that has some, by the name of the docstring."""
    found: dict[str, list[Block]] = {}
    for path in sorted((SOURCE / "unisono").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "```" not in text:
            continue
        for name, lines in _docstrings(path, text):
            blocks = [_with_comments(name, block) for block in parse_blocks(path, lines) if block.is_python]
            if blocks:
                assert name not in found, f"two docstrings are named {name}"
                found[name] = blocks
    return found


def _docstrings(path: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    """The name of each docstring, and the lines of the file with nothing but it."""
    lines = text.split("\n")
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) or not ast.get_docstring(node):
            continue
        docstring = node.body[0]
        first, last = docstring.lineno, docstring.end_lineno or docstring.lineno
        inside = [line if first <= number <= last else "" for number, line in enumerate(lines, 1)]
        yield (module if isinstance(node, ast.Module) else node.name), inside


def _with_comments(name: str, block: Block) -> Block:
    comments = {}
    if name in NOT_RUN:
        comments["not run"] = NOT_RUN[name]
    if name in OWN_PROCESS:
        comments |= {"own process": "", "setup": OWN_PROCESS[name]}
    if name in SETUPS:
        comments["setup"] = SETUPS[name]
    if name in FULL:
        comments["full"] = ""
    return replace(block, comments=comments)
