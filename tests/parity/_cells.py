"""The parity table: which model, how many rows, which optimizer, under which strategy on how many devices.

Owns the table and the tolerances. Knows neither jax nor keras: pytest reads it while collecting, and the
runner (`_runner.py`) in its own process. What the names of models and optimizers mean is said in
`_models.py`, what the variations do in `_runner.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import cycle

REPLICAS = (1, 2, 4, 8)

# `zero1` and `zero3` are FullyShardedStrategy with shard="optimizer" and shard="all", which shard even the smallest
# variables here; the meshes are ModelParallelStrategy with layouts from shapes. The last ones have a process for each
# device: in `mesh1x3` the devices that share the work of a layer are in different processes. `_runner.py` makes them.
OVER_PROCESSES = ("processes-zero1", "processes-zero3", "processes-mesh1x3")
STRATEGIES = ("mirrored", "zero1", "zero3", "mesh2x2", "mesh2x4", *OVER_PROCESSES)

# One step from the same state: what two orders of summing a few hundred float32 numbers may differ by.
STEP_TOLERANCE = 1e-6
# RMSprop divides a gradient by the root of its square and 1e-7. Where the gradient is a thousandth of the largest one,
# its rounding is six times as large in the weight.
RMSPROP_STEP_TOLERANCE = 1e-4
# Adam's first step divides a gradient by its magnitude and 1e-7. In a gradient that cancels to about 1e-7, as behind
# attention, a rounding of 1e-10 changes the step, which is at most the learning rate of 0.003, by a thousandth.
ADAM_ATTENTION_STEP_TOLERANCE = 3e-6
# After at most 30 steps. Adam divides by the root of a small number, recurrent layers and batch normalisation
# feed their rounding back, so there one more digit is lost.
PLAIN_RUN_TOLERANCE = 1e-5
SENSITIVE_RUN_TOLERANCE = 1e-4
# bfloat16 keeps 8 bits, float16 keeps 11: the partial sums of N devices are rounded to that and then added.
MIXED_TOLERANCE = 2e-2
# Added to every bound: this many times the largest value of the same kind. It lets a bias gradient that
# cancels to nearly nothing carry the rounding of the large numbers it came from.
FLOOR = 3e-7


@dataclass(frozen=True, kw_only=True)
class Model:
    """What a test has to know about a model without building it."""

    sensitive: bool = False  # recurrent, batch normalisation, dropout: SENSITIVE_RUN_TOLERANCE
    random: bool = False  # draws random numbers: the order of the rows is part of the answer
    # path suffix -> why its true gradient is zero. Such a parameter moves by rounding alone (Adam makes that
    # a full learning rate), so it is compared through the losses and the predictions only.
    zero_gradient: dict[str, str] = field(default_factory=dict)
    # path suffix -> why it follows one of the above.
    follows: dict[str, str] = field(default_factory=dict)
    min_step_rows: int = 1  # fewer rows than this make no meaningful first step


MODELS = {
    "mlp": Model(),
    "lazy": Model(),
    # One row is its own mean: nothing before the normalisation has a gradient then.
    "batchnorm": Model(sensitive=True, min_step_rows=2),
    "batchnorm_bias": Model(
        sensitive=True,
        min_step_rows=2,
        zero_gradient={"before_norm/bias": "batch normalisation subtracts the mean, and the bias with it"},
        follows={"norm/moving_mean": "the mean of what before_norm/bias was added to"},
    ),
    "dropout": Model(sensitive=True, random=True),
    "cnn": Model(),
    "lstm": Model(sensitive=True),
    "gru": Model(sensitive=True),
    "masked": Model(sensitive=True),
    "attention": Model(
        zero_gradient={"key/bias": "adds the same number to all scores of a query, which softmax ignores"},
    ),
    "two_heads_list": Model(),
    "two_heads_dict": Model(),
    "add_loss": Model(),
    "own_train_step": Model(),
    "own_compute_loss": Model(),
    "many_metrics": Model(),
}

VARIATIONS = (
    "",
    "sample_weight",
    "class_weight",
    "validation_split",
    "validation_data",
    "steps_per_execution",
    "batch_hooks",
    "on_batch",
)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """So many rows, in batches of so many."""

    rows: int
    batch: int
    epochs: int = 2

    @property
    def last(self) -> int:
        return self.rows % self.batch or self.batch

    @property
    def steps(self) -> int:
        return -(-self.rows // self.batch) * self.epochs


def rows_for(kind: str, replicas: int) -> Rows:
    """The five ways in which rows meet replicas."""
    match kind:
        case "exact":
            return Rows(rows=48, batch=16)
        case "one_left":
            return Rows(rows=33, batch=16)
        case "one_short":  # every replica but one gets a row
            return Rows(rows=32 + max(replicas - 1, 1), batch=16)
        case "fewer":  # some replicas get no row
            return Rows(rows=32 + max(replicas // 2 - replicas // 8, 1), batch=16)
        case "indivisible":  # the batch itself cannot be cut evenly
            return Rows(rows=31, batch=13)
    raise ValueError(f"no such kind of rows: {kind!r}; known: {', '.join(ROW_KINDS)}")


ROW_KINDS = ("exact", "one_left", "one_short", "fewer", "indivisible")


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is computed, independent of what computes it: the oracle solves it once for all numbers of replicas."""

    model: str
    optimizer: str
    rows: Rows
    policy: str = "float32"
    variation: str = ""

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"no model {self.model!r}; known: {', '.join(MODELS)}")
        if self.variation not in VARIATIONS:
            raise ValueError(f"no variation {self.variation!r}; known: {', '.join(VARIATIONS)}")
        if self.rows.steps > 30:
            raise ValueError(f"{self.rows} runs {self.rows.steps} steps; parity is stated for at most 30")

    @property
    def id(self) -> str:
        size = f"{self.rows.rows}by{self.rows.batch}" + (f"x{self.rows.epochs}" if self.rows.epochs != 2 else "")
        policy = "" if self.policy == "float32" else self.policy
        return "-".join(part for part in (self.model, self.optimizer, size, policy, self.variation) if part)

    @property
    def step_rows(self) -> int:
        """The first step sees the awkward last batch, where it is large enough to have gradients."""
        last = self.rows.last
        return last if last >= MODELS[self.model].min_step_rows else self.rows.batch

    @property
    def step_tolerance(self) -> float:
        if self.policy != "float32":
            return MIXED_TOLERANCE
        if self.optimizer == "rmsprop":
            return RMSPROP_STEP_TOLERANCE
        cancels = self.model == "attention" and self.optimizer.startswith("adam")
        return ADAM_ATTENTION_STEP_TOLERANCE if cancels else STEP_TOLERANCE

    @property
    def run_tolerance(self) -> float:
        if self.policy != "float32":
            return MIXED_TOLERANCE
        plain = self.optimizer.startswith("sgd") and not MODELS[self.model].sensitive
        return PLAIN_RUN_TOLERANCE if plain else SENSITIVE_RUN_TOLERANCE


@dataclass(frozen=True)
class Cell:
    """One row of the table: a problem, and which strategy solves it on how many devices."""

    problem: Problem
    devices: int
    tier: str  # "default", "full": make test-all, or "table": make parity alone
    strategy: str = "mirrored"

    @property
    def id(self) -> str:
        return f"{self.problem.id}-on{self.devices}" + (f"-{self.strategy}" if self.is_sharded else "")

    @property
    def processes(self) -> int:
        return self.devices if self.strategy in OVER_PROCESSES else 1

    @property
    def replicas(self) -> int:
        """Among how many the rows of a batch are divided."""
        _, is_mesh, shape = self.strategy.partition("mesh")
        return int(shape.partition("x")[0]) if is_mesh else self.devices

    @property
    def is_sharded(self) -> bool:
        return self.strategy != "mirrored"

    @property
    def solution(self) -> str:
        """The name under which the process that solves it leaves its solution."""
        return f"{self.strategy}:{self.problem.id}"


def _cell(model: str, optimizer: str, kind: str, replicas: int, **rest: str) -> tuple[Problem, int]:
    return Problem(model=model, optimizer=optimizer, rows=rows_for(kind, replicas), **rest), replicas


def _default() -> Iterator[tuple[Problem, int]]:
    # On 4 replicas: each number is a process of its own, and programs for 8 take longest to compile.
    # How rows meet replicas: the plain model shows it best, batch normalisation suffers most from it.
    for kind in ("exact", "indivisible"):
        yield _cell("mlp", "sgd", kind, 4)
    yield _cell("batchnorm", "adam", "indivisible", 4)
    # Models whose rows interact, or whose steps are not Keras's own.
    yield _cell("dropout", "sgd", "fewer", 4)
    yield _cell("two_heads_dict", "adam", "indivisible", 4)
    yield _cell("own_train_step", "sgd", "one_short", 4)
    # Optimizers and ways to call that treat gradients differently.
    yield _cell("mlp", "sgd_clipnorm", "one_short", 4)
    yield _cell("mlp", "adam_accumulate", "one_left", 4)
    yield _cell("mlp", "sgd_loss_scale", "indivisible", 4, policy="mixed_float16")


def _every_model_and_way_to_call() -> Iterator[tuple[Problem, int]]:
    for kind in ROW_KINDS:
        yield _cell("mlp", "sgd", kind, 4)
    yield _cell("cnn", "sgd", "one_left", 4)
    yield _cell("mlp", "sgd", "indivisible", 4, variation="sample_weight")
    yield _cell("masked", "adam", "one_left", 2)
    yield _cell("add_loss", "sgd", "indivisible", 4)
    yield _cell("mlp", "sgd", "one_left", 2, variation="validation_data")
    yield (
        Problem(model="mlp", optimizer="adam", rows=Rows(rows=51, batch=8), variation="steps_per_execution"),
        4,
    )
    yield _cell("batchnorm_bias", "adam", "one_short", 4)
    yield _cell("lazy", "sgd", "one_left", 2)
    yield _cell("lstm", "sgd", "one_short", 4)
    yield _cell("gru", "adam", "fewer", 4)
    yield _cell("attention", "sgd", "indivisible", 4)
    yield _cell("two_heads_list", "sgd", "one_left", 4)
    yield _cell("own_compute_loss", "adam", "fewer", 4)
    yield _cell("many_metrics", "adam", "one_left", 2)
    yield _cell("mlp", "adam", "one_left", 4, variation="class_weight")
    yield _cell("mlp", "sgd", "exact", 4, variation="validation_split")
    yield _cell("dropout", "sgd", "one_short", 4, variation="batch_hooks")
    yield _cell("mlp", "adam", "fewer", 4, variation="on_batch")


def _full() -> Iterator[tuple[Problem, int]]:
    yield from _every_model_and_way_to_call()
    # More of what the default tier has.
    yield _cell("batchnorm", "sgd", "fewer", 4)
    yield _cell("mlp", "rmsprop", "one_left", 2)
    for replicas in (2, 8):
        for kind in ROW_KINDS:
            yield _cell("mlp", "sgd", kind, replicas)
    yield _cell("batchnorm", "sgd", "indivisible", 4)
    yield _cell("batchnorm", "adam", "one_short", 4)
    yield _cell("mlp", "adamw", "fewer", 4)
    yield _cell("mlp", "sgd_global_clipnorm", "indivisible", 4)
    yield _cell("mlp", "adam_ema", "indivisible", 4)
    yield _cell("mlp", "adam", "indivisible", 4, policy="mixed_bfloat16")
    yield _cell("mlp", "sgd_loss_overflow", "one_left", 2, policy="mixed_float16")
    yield _cell("mlp", "sgd", "indivisible", 1)
    for kind in ("exact", "one_left", "one_short"):
        yield _cell("batchnorm", "sgd", kind, 4)
    yield _cell("dropout", "adam", "indivisible", 4)
    yield _cell("cnn", "adam", "indivisible", 2)
    yield _cell("attention", "adam", "one_short", 8)
    yield _cell("mlp", "adam", "one_left", 1)
    yield _cell("mlp", "adam", "exact", 8)
    yield _cell("mlp", "sgd_momentum", "indivisible", 4)
    yield _cell("mlp", "sgd_clipvalue", "one_left", 2)
    yield _cell("mlp", "sgd_weight_decay", "exact", 2)
    # Every model with SGD and Adam on every number of replicas. The five kinds of rows alternate over these
    # eight cells, so each model meets all of them.
    for model in MODELS:
        kinds = cycle(ROW_KINDS)
        for optimizer in ("sgd", "adam"):
            for replicas in REPLICAS:
                yield (
                    Problem(model=model, optimizer=optimizer, rows=rows_for(next(kinds), replicas)),
                    replicas,
                )
    for model, optimizer in (("batchnorm", "adam"), ("dropout", "sgd"), ("cnn", "sgd"), ("masked", "adam")):
        for replicas in (2, 4, 8):
            for kind in ROW_KINDS:
                yield Problem(model=model, optimizer=optimizer, rows=rows_for(kind, replicas)), replicas
    kinds = cycle(ROW_KINDS)
    for optimizer in OPTIMIZERS:
        for model in ("mlp", "cnn"):
            for replicas in (2, 4, 8):
                yield (
                    Problem(model=model, optimizer=optimizer, rows=rows_for(next(kinds), replicas)),
                    replicas,
                )
    for variation in VARIATIONS[1:]:
        for model, optimizer in (("mlp", "adam"), ("batchnorm", "sgd")):
            for replicas in REPLICAS:
                rows = rows_for(next(kinds), replicas)
                yield Problem(model=model, optimizer=optimizer, rows=rows, variation=variation), replicas
    halves = (
        ("mixed_bfloat16", "adam"),
        ("mixed_float16", "sgd_loss_scale"),
        ("mixed_float16", "sgd_loss_overflow"),
    )
    for policy, optimizer in halves:
        # JAX has no attention in float16 on CPU.
        models = ("mlp", "cnn", "lstm", "attention") if policy == "mixed_bfloat16" else ("mlp", "cnn", "lstm")
        for model in models:
            for replicas in (1, 2, 4):
                rows = rows_for(next(kinds), replicas)
                yield Problem(model=model, optimizer=optimizer, rows=rows, policy=policy), replicas
    # As long as parity is stated for.
    for model in ("mlp", "batchnorm", "dropout", "cnn", "lstm"):
        for optimizer in ("sgd", "adam"):
            yield Problem(model=model, optimizer=optimizer, rows=Rows(rows=39, batch=8, epochs=6)), 4


OPTIMIZERS = (
    "sgd",
    "sgd_momentum",
    "sgd_clipnorm",
    "sgd_global_clipnorm",
    "sgd_clipvalue",
    "sgd_weight_decay",
    "sgd_schedule",
    "adam",
    "adam_ema",
    "adam_accumulate",
    "adamw",
    "rmsprop",
)


def _sharded_default() -> Iterator[Cell]:
    """Problems that the default tier's process for 4 devices and its oracle solve anyway."""
    for strategy, problem in (
        ("zero3", _cell("mlp", "adam_accumulate", "one_left", 4)),
        ("zero3", _cell("own_train_step", "sgd", "one_short", 4)),
        ("zero1", _cell("mlp", "sgd_clipnorm", "one_short", 4)),
        ("mesh2x2", _cell("two_heads_dict", "adam", "indivisible", 4)),
    ):
        yield Cell(*problem, "default", strategy)


def _sharded(mirrored: Iterable[Cell]) -> Iterator[Cell]:
    """Every cell with sharded state, and every problem on both meshes."""
    yield from _sharded_default()
    for number, (problem, devices, strategy) in enumerate(dict.fromkeys(_sharded_problems(mirrored))):
        yield Cell(problem, devices, "table" if number % _SAMPLING else "full", strategy)


# Sharded cells are five sixths of the table, and differ little: `make test-all` tries every 13th. Not 12th: four
# strategies take turns.
_SAMPLING = 13


def _sharded_problems(mirrored: Iterable[Cell]) -> Iterator[tuple[Problem, int, str]]:
    for cell in mirrored:
        if cell.devices > 1:
            yield cell.problem, cell.devices, "zero1"
            yield cell.problem, cell.devices, "zero3"
        if _depends_on_rounding(cell.problem):
            continue
        yield cell.problem, 4, "mesh2x2"
        yield cell.problem, 8, "mesh2x4"
    for problem in dict.fromkeys(problem for problem, _ in (*_default(), *_every_model_and_way_to_call())):
        for strategy in OVER_PROCESSES:
            yield problem, 3, strategy


def _depends_on_rounding(problem: Problem) -> bool:
    """Whether Adam moves a weight by the sign of a gradient that is rounding alone: of attention's biases in bfloat16
    one is 2e-3 of the largest, and a mesh divides the sums of which it consists."""
    return problem.model == "attention" and problem.policy == "mixed_bfloat16"


def _table() -> tuple[Cell, ...]:
    cells: dict[tuple[Problem, int], Cell] = {}
    for tier, rows in (("default", _default()), ("full", _full())):
        for problem, devices in rows:
            cells.setdefault((problem, devices), Cell(problem, devices, tier))
    by_id = {cell.id: cell for cell in cells.values()}
    for cell in _sharded(cells.values()):
        by_id.setdefault(cell.id, cell)
    return tuple(by_id.values())


CELLS = _table()
