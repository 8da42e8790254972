"""Writes what TensorFlow says. In the root of the repository, with a Python that has TensorFlow:

    python -m tests.conformance.record

Needs neither Unisono nor JAX. The files change where TensorFlow or the plans have changed, and nowhere else.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf

from ._observe import observe
from ._space import Space
from ._splits import CASES, GRID, observe_case, rows_of_steps
from .plans import PLANS

HERE = Path(__file__).parent
NUM_DEVICES = 4


def main() -> None:
    tf.autograph.set_verbosity(0)
    tf.get_logger().setLevel("FATAL")
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * NUM_DEVICES)
    plans = {name: run_in_space(lambda space, plan=plan: observe(plan, space)) for name, plan in PLANS.items()}
    write("tf_data.json", plans=plans)
    write("tf_distribute_splits.json", grid=splits(), cases=cases())


def splits() -> dict[str, Any]:
    def seen(space: Space, cell: Any) -> Any:
        strategy = mirrored(cell.num_replicas)
        return rows_of_steps(strategy.experimental_distribute_dataset(cell.dataset(space)))

    return {name: run_in_space(lambda space, cell=cell: seen(space, cell)) for name, cell in GRID.items()}


def cases() -> dict[str, Any]:
    return {
        name: run_in_space(lambda space, case=case: observe_case(case, space, mirrored(case.num_replicas)))
        for name, case in CASES.items()
    }


@cache
def mirrored(num_replicas: int) -> Any:
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(num_replicas)])


def run_in_space(look: Callable[[Space], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return look(Space(tf.data, tf.TensorSpec, lambda x: tf.shape(x)[0], Path(folder)))


def write(file: str, **tables: dict[str, Any]) -> None:
    """One line for each fact, so that a change reads well in a diff."""
    lines = [f'"tensorflow": {json.dumps(tf.__version__)}']
    for title, table in sorted(tables.items()):
        entries = [f"{json.dumps(name)}: {_entry(table[name])}" for name in sorted(table)]
        lines.append(f'"{title}": {{\n' + ",\n".join(entries) + "\n}")
    (HERE / file).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _entry(seen: Any) -> str:
    if isinstance(seen, dict) and seen.keys() & {"elements", "steps"}:
        return "{" + ",\n ".join(f"{json.dumps(key)}: {_list(seen[key])}" for key in sorted(seen)) + "}"
    return _list(seen)


def _list(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if len(text) <= 100 or not isinstance(value, list):
        return text
    items = [json.dumps(item, sort_keys=True, ensure_ascii=False) for item in value]
    return "[\n  " + ",\n  ".join(items) + "]"


if __name__ == "__main__":
    main()
