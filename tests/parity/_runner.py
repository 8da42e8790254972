"""Solves problems in its own process: `python _runner.py --side oracle --solutions mirrored:a,zero3:b --out DIR`.

Sides: `oracle` is stock Keras on one device and never imports unisono. `unisono` runs the same lines under the
strategy named before each problem, on `--devices` CPU devices. `reordered` is the oracle with the rows inside each
batch backwards: what it differs from the oracle by is rounding, the floor below which a difference says nothing.

For each solution it leaves `<name>.npz` (arrays) and then `<name>.json` (facts, or the traceback); one without a
`.json` was not finished.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import math
import os
import re
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import keras
import numpy as np
from _cells import CELLS, Problem
from _models import LEARNING_RATE, OPTIMIZERS, RECIPES

SECONDS_BEFORE_A_STACK_DUMP = 60
CLASS_WEIGHT = {0: 1.0, 1: 2.0, 2: 0.5, 3: 3.0}


class Data:
    """The problem's data: its first rows, in this side's order."""

    def __init__(self, problem: Problem, *, reordered: bool) -> None:
        self._batch, self._reordered = problem.rows.batch, reordered
        rng = np.random.default_rng(20261115)
        data = RECIPES[problem.model].data
        self._train = data(rng, problem.rows.rows)
        self._held_out = data(rng, problem.rows.batch + 3)
        weight = rng.uniform(0.0, 2.0, size=problem.rows.rows).astype("float32")
        weight[::7] = 0.0
        self._weight = weight

    def order(self, rows: int) -> np.ndarray:
        blocks = [np.arange(rows)[start : start + self._batch] for start in range(0, rows, self._batch)]
        return np.concatenate([block[::-1] if self._reordered else block for block in blocks])

    def _take(self, arrays: Any, rows: int) -> Any:
        order = self.order(rows)
        return keras.tree.map_structure(lambda array: array[:rows][order], arrays)

    def train(self, rows: int) -> tuple[Any, Any]:
        return self._take(self._train, rows)

    def weight(self, rows: int) -> np.ndarray:
        return self._take(self._weight, rows)

    def held_out(self) -> tuple[Any, Any]:
        return self._take(self._held_out, self._batch + 3)


class _Initial(keras.callbacks.Callback):
    """Takes the state before the first step; a lazily built model has none earlier."""

    def __init__(self) -> None:
        super().__init__()
        self.state: dict[str, np.ndarray] = {}

    def on_train_begin(self, logs: Any = None) -> None:
        if not self.state:
            self.state = _state(self.model)


class _BatchHooks(keras.callbacks.Callback):
    """What a user's own callback sees: one call a batch, with the running means."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[dict[str, float]] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.seen.append({"batch": batch, **{name: float(value) for name, value in logs.items()}})


def _state(model: Any) -> dict[str, np.ndarray]:
    found = {"trainable": model.trainable_variables, "state": model.non_trainable_variables}
    found["optimizer"] = model.optimizer.variables
    return {
        f"{kind}/{index:03d} {variable.path}": np.array(variable.numpy())
        for kind, variables in found.items()
        for index, variable in enumerate(variables)
    }


def _under(phase: str, arrays: dict[str, Any]) -> dict[str, np.ndarray]:
    return {f"{phase}/{name}": np.asarray(array) for name, array in arrays.items()}


def _logs(records: list[dict[str, float]]) -> dict[str, np.ndarray]:
    names = records[0] if records else {}
    return {f"logs/{name}": np.array([record[name] for record in records]) for name in names}


def _leaves(name: str, tree: Any) -> dict[str, np.ndarray]:
    """A flat view that keeps the keys."""
    if isinstance(tree, dict):
        return {path: leaf for key in tree for path, leaf in _leaves(f"{name}/{key}", tree[key]).items()}
    if isinstance(tree, (list, tuple)):
        return _leaves(name, dict(enumerate(tree)))
    return {name: np.asarray(tree)}


def _build(problem: Problem) -> Any:
    recipe = RECIPES[problem.model]
    model = recipe.build()
    settings = recipe.compile()
    if problem.variation == "steps_per_execution":
        settings["steps_per_execution"] = 5
    model.compile(optimizer=OPTIMIZERS[problem.optimizer](), **settings)
    return model


def _fit_arguments(problem: Problem, rows: Data, count: int) -> dict[str, Any]:
    x, y = rows.train(count)
    arguments = {"x": x, "y": y, "batch_size": problem.rows.batch, "shuffle": False, "verbose": 0}
    if problem.variation == "sample_weight":
        arguments["sample_weight"] = rows.weight(count)
    if problem.variation == "class_weight":
        arguments["class_weight"] = CLASS_WEIGHT
    return arguments


def _fit(problem: Problem, model: Any, rows: Data) -> dict[str, np.ndarray]:
    initial, hooks = _Initial(), _BatchHooks()
    first = model.fit(**_fit_arguments(problem, rows, problem.step_rows), callbacks=[initial])
    arrays = _under("initial", initial.state) | _under("step", _state(model))
    arrays |= _under("step", _leaves("logs", first.history))
    if problem.optimizer == "sgd":
        model.optimizer.learning_rate = LEARNING_RATE
    if "unisono" not in sys.modules:
        _unshare(model)

    arguments = _fit_arguments(problem, rows, problem.rows.rows) | {"epochs": problem.rows.epochs}
    if problem.variation == "validation_split":
        arguments["validation_split"] = 0.27  # 48 rows: 35 and 13
    if problem.variation == "validation_data":
        arguments["validation_data"] = rows.held_out()
    if problem.variation == "batch_hooks":
        arguments["callbacks"] = [hooks]
    history = model.fit(**arguments)
    arrays |= _under("run", _state(model)) | _under("run", {f"logs/{k}": v for k, v in history.history.items()})
    arrays |= _under("run/hooks", _logs(hooks.seen))

    x, y = rows.train(problem.rows.rows)
    weight = {"sample_weight": arguments["sample_weight"]} if "sample_weight" in arguments else {}
    evaluated = model.evaluate(x, y, batch_size=problem.rows.batch, verbose=0, return_dict=True, **weight)
    return (
        arrays
        | _under("run", _leaves("evaluate", evaluated))
        | _predictions(rows, problem, model.predict(x, batch_size=problem.rows.batch, verbose=0))
    )


def _unshare(model: Any) -> None:
    """Keras 3.15.1: fit ends by assigning the averages of use_ema to the weights, as the same buffers, and
    the next fit refuses to donate one buffer twice."""
    for variable in model.trainable_variables:
        variable.assign(np.array(variable.value))


def _on_batch(problem: Problem, model: Any, rows: Data) -> dict[str, np.ndarray]:
    """The same run by hand: train_on_batch, test_on_batch, predict_on_batch."""
    arrays = _under("initial", _state(model))
    first = model.train_on_batch(*rows.train(problem.step_rows), return_dict=True)
    arrays |= _under("step", _state(model)) | _under("step", _leaves("logs", first))
    x, y = rows.train(problem.rows.rows)
    cuts = [slice(start, start + problem.rows.batch) for start in range(0, problem.rows.rows, problem.rows.batch)]
    trained = [model.train_on_batch(x[cut], y[cut], return_dict=True) for cut in cuts]
    arrays |= _under("run", _state(model)) | _under("run", _logs(trained))
    model.reset_metrics()
    arrays |= _under("run/test", _logs([model.test_on_batch(x[cut], y[cut], return_dict=True) for cut in cuts]))
    predicted = np.concatenate([model.predict_on_batch(x[cut]) for cut in cuts])
    return arrays | _predictions(rows, problem, predicted)


def _predictions(rows: Data, problem: Problem, predicted: Any) -> dict[str, np.ndarray]:
    back = np.argsort(rows.order(problem.rows.rows))
    return {name: leaf[back] for name, leaf in _under("run", _leaves("predict", predicted)).items()}


def _where_it_ran(model: Any) -> dict[str, Any]:
    import unisono._src.training  # only this side may

    devices = {variable.path: len(variable.value.sharding.device_set) for variable in model.trainable_variables}
    programs = [
        {
            "kind": program.kind,
            "form": program.form,
            "all_reduced": _num_results(program.text, "all-reduce"),
            "gathered": _num_results(program.text, "all-gather"),
        }
        for program in unisono._src.training.programs(model)
    ]
    weights = sum(v.value.size for v in model.trainable_variables)
    sharded = {
        kind: any(not variable.value.is_fully_replicated for variable in variables)
        for kind, variables in (("weights", model.trainable_variables), ("optimizer", model.optimizer.variables))
    }
    return {"devices": devices, "weights": weights, "sharded": sharded, "programs": programs}


def _num_results(text: str, collective: str) -> int:
    """How many floating-point numbers the collectives of this kind yield in an optimised program."""
    yields = re.findall(rf"= (.*?) {collective}(?:-start)?\(", text)
    shapes = [shape for types in yields for shape in re.findall(r"\bb?f\d+\[([\d,]*)\]", types)]
    return sum(math.prod(int(size) for size in shape.split(",") if size) for shape in shapes)


def solve(problem: Problem, side: str, scope: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    keras.backend.clear_session()
    keras.config.set_dtype_policy(problem.policy)
    keras.utils.set_random_seed(20261115)
    rows = Data(problem, reordered=side == "reordered")
    with scope:
        model = _build(problem)
    run = _on_batch if problem.variation == "on_batch" else _fit
    arrays = run(problem, model, rows)
    return arrays, _where_it_ran(model) if side == "unisono" else {}


def _save(out: Path, name: str, arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    # np.savez stores bfloat16 as bytes; float64 holds it exactly.
    plain = {k: a if a.dtype.kind in "biuf" else a.astype("float64") for k, a in arrays.items()}
    np.savez(out / f"{name}.npz", **plain)  # pyright: ignore[reportArgumentType]
    partial = out / f"{name}.json.partial"
    partial.write_text(json.dumps(facts, indent=1))
    partial.rename(out / f"{name}.json")


def _scope(side: str, strategy: str, devices: int) -> Any:
    if side != "unisono":
        return contextlib.nullcontext()
    import unisono  # only this side may

    kind = strategy.removeprefix("processes-")
    names = None  # all devices of a launched job, of which each process has one
    if kind == strategy:
        unisono.config.set_cpu_devices(devices)
        names = [f"cpu:{index}" for index in range(devices)]
    if kind == "mirrored":
        return unisono.MirroredStrategy(names).scope()
    if kind.startswith("mesh"):
        batch, model = map(int, kind.removeprefix("mesh").split("x"))
        return unisono.ModelParallelStrategy({"batch": batch, "model": model}, devices=names).scope()
    what: Any = {"zero1": "optimizer", "zero3": "all"}[kind]
    return unisono.FullyShardedStrategy(names, shard=what, min_shard_size=0).scope()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", choices=("oracle", "reordered", "unisono"), required=True)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--solutions", required=True, help="comma-separated strategy:problem")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()

    problems = {cell.problem.id: cell.problem for cell in CELLS}
    for name in options.solutions.split(","):
        print(f"{options.side} on {options.devices}: {name}", flush=True)
        faulthandler.dump_traceback_later(SECONDS_BEFORE_A_STACK_DUMP)
        begin, arrays = time.monotonic(), {}
        strategy, _, problem = name.partition(":")
        try:
            scope = _scope(options.side, strategy, options.devices)
            arrays, facts = solve(problems[problem], options.side, scope)
        except Exception:  # recorded for this problem; the rest continue
            facts = {"error": traceback.format_exc()}
        if int(os.environ.get("RANK", "0")) == 0 or "error" in facts:
            _save(options.out, name, arrays, facts | {"seconds": time.monotonic() - begin})
        faulthandler.cancel_dump_traceback_later()
    if options.side != "unisono":
        assert "unisono" not in sys.modules, "the oracle must be stock Keras"


if __name__ == "__main__":
    main()
