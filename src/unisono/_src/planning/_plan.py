"""A plan: what a training step of a model needs here, and what it would take on more devices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import jax
import keras

from unisono._src.core import parse_bytes
from unisono._src.data.dataset import Dataset
from unisono._src.data.feed import unwrap_distributed
from unisono._src.devices import Placement, ShardedPlacement
from unisono._src.keras_hooks import get_owner
from unisono._src.planning._collectives import Collective, expect_collectives, read_collectives
from unisono._src.planning._compute_time import ComputeTimer
from unisono._src.planning._cost_model import MOST_DEVICES, CostModel, Prediction, choose_numbers, last_that_pays
from unisono._src.planning._exchange_time import measure_devices, measure_processes
from unisono._src.planning._interconnect import Exchange, parse_bandwidth
from unisono._src.planning._largest_batch import BatchSearch, search_largest_batch
from unisono._src.planning._model_call import ExaminedModel, examine_model
from unisono._src.planning._step_compiler import StepMemory, device_memory

_NAME: Final = "unisono plan"
_DEFAULT_BANDWIDTH: Final = "infiniband-ndr"

NO_LIMIT = """The largest batch is not searched: {platform} devices do not report how much memory they have. Say how
much one may use: --memory 8GB."""

NOT_DIVIDED = """Step times are not predicted: with {strategy} several devices compute the rows of a replica together,
and what they exchange depends on the layers. Memory and exchange are those of its mesh."""

FEWER_DEVICES = """Memory is that of {here} devices, which the script's strategy has. For {asked} sharded devices that
are not here: JAX_PLATFORMS=cpu unisono plan --devices {asked} ..."""

LATENCY_NOT_USED = """--latency is not used: the exchange is measured here. To compute it, name an interconnect, as in
--bandwidth 100gbe."""

NOT_ON_ONE = """Step times are not predicted: they are measured on one device, and the whole model does not fit on one
({needed})."""


@dataclass(frozen=True)
class PlanOptions:
    """What the user asked for."""

    devices: int | None = None
    bandwidth: str | None = None
    latency: float | None = None
    memory: str | None = None


@dataclass(frozen=True, eq=False)
class ResourcePlan:
    """What was found.

    Attributes:
        devices: of the script's strategy.
        memory_devices: among how many devices the batch is divided for ``memory``.
        flops: floating-point operations of the products and convolutions of a step on one device.
        bytes_accessed: what a step reads and writes on one device, as XLA counts it.
        cores: which CPU devices of this machine share; None if each device has its own.
        most_devices: up to how many devices times are predicted.
        same_batch: predictions for the script's global batch on more devices.
        same_rows: predictions for as many rows on each device as in the script.
        notes: what is not predicted, and why.
    """

    model: str
    parameters: int
    strategy: str
    platform: str
    devices: int
    replicas: int
    global_batch: int
    memory: StepMemory
    memory_devices: int
    memory_limit: int | None
    largest_batch: BatchSearch | None
    flops: float
    bytes_accessed: float
    cores: int | None
    most_devices: int
    collectives: Sequence[Collective]
    exchange: str
    same_batch: Sequence[Prediction] = ()
    same_rows: Sequence[Prediction] = ()
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """All of it as a dict that JSON can hold."""
        found = asdict(self)
        found["memory"]["total"] = self.memory.total
        for name in ("same_batch", "same_rows"):
            predictions: Sequence[Prediction] = getattr(self, name)
            found[name] = [
                asdict(each) | {"seconds": each.seconds, "rows_per_second": each.rows_per_second}
                for each in predictions
            ]
            found[f"{name}_pays_up_to"] = last_that_pays(predictions).devices if predictions else None
        return found


def make_plan(model: Any, fit_arguments: dict[str, Any], options: PlanOptions) -> ResourcePlan:
    """The plan for a model and the arguments of its `fit`. Trains nothing; the model's values do not change."""
    x, y, sample_weight = (fit_arguments.get(name) for name in ("x", "y", "sample_weight"))
    x = unwrap_distributed(x)
    # A list of inputs without labels stays x: by itself, it would be taken for (x, y).
    data = x if isinstance(x, Dataset | keras.utils.PyDataset) else (x, y, sample_weight)
    with examine_model(model, data, fit_arguments.get("batch_size"), _NAME) as examined:
        return _Planner(examined, options).plan()


class _Planner:
    def __init__(self, examined: ExaminedModel, options: PlanOptions):
        self._examined, self._options = examined, options
        self._placement: Placement = examined.call.placement
        self._is_sharded = isinstance(self._placement, ShardedPlacement)
        self._notes: list[str] = []

    def plan(self) -> ResourcePlan:
        examined, placement = self._examined, self._placement
        batch = examined.batch.rows
        memory_devices, limit = self._memory_devices(), self._memory_limit()
        rows = -(-batch * placement.num_replicas // memory_devices)
        program = examined.compiler.compile(examined.batch.spec(rows))
        memory = examined.compiler.memory(program, examined.batch.resident_bytes)
        trained = examined.call.model.trainable_variables
        if placement.mesh.size > 1:
            collectives = read_collectives(program.text, placement.mesh.size)
        else:
            collectives = expect_collectives(trained, placement)
        timer = ComputeTimer(examined, self._shared_cores())
        exchange = self._exchange(timer, collectives)
        same_batch, same_rows = self._predict(timer, collectives, exchange, batch)
        return ResourcePlan(
            model=examined.call.model.name,
            parameters=examined.call.model.count_params(),
            strategy=type(get_owner(examined.call.model)).__name__,
            platform=placement.platform,
            devices=placement.mesh.size,
            replicas=placement.num_replicas,
            global_batch=batch,
            memory=memory,
            memory_devices=memory_devices,
            memory_limit=limit,
            largest_batch=None if limit is None else self._largest_batch(limit),
            flops=program.product_flops / placement.mesh.size,
            bytes_accessed=program.cost.get("bytes accessed", 0.0),
            cores=timer.cores,
            most_devices=self._most_devices(timer.cores),
            collectives=collectives,
            exchange=exchange.description,
            same_batch=same_batch,
            same_rows=same_rows,
            notes=self._notes,
        )

    def _memory_devices(self) -> int:
        asked, here = self._options.devices, self._placement.num_replicas
        if asked is None or asked <= here:
            return here
        if self._is_sharded:
            self._notes.append(FEWER_DEVICES.format(here=here, asked=asked))
            return here
        return asked

    def _memory_limit(self) -> int | None:
        if self._options.memory is not None:
            try:
                return parse_bytes(self._options.memory)
            except ValueError as error:
                raise ValueError(f"--memory: {error}") from None
        found = device_memory(self._placement.local_devices[0])
        if found is None:
            self._notes.append(NO_LIMIT.format(platform=self._placement.platform.upper()))
        return found

    def _largest_batch(self, limit: int) -> BatchSearch | None:
        compiler, batch = self._examined.compiler, self._examined.batch
        try:
            return search_largest_batch(
                lambda rows: compiler.memory(compiler.compile(batch.spec(rows)), batch.resident_bytes).total,
                self._placement.num_replicas,
                limit,
                num_rows=batch.num_rows,
                function=_NAME,
            )
        except ValueError as error:  # not even one row fits: that is a finding, too
            self._notes.append(str(error))
            return None

    @property
    def _is_measured(self) -> bool:
        """Whether the exchange is measured here, and not computed for an interconnect."""
        asked = self._options.bandwidth
        return asked in ("measure", "measure-processes") or (asked is None and self._placement.platform == "cpu")

    def _exchange(self, timer: ComputeTimer, collectives: Sequence[Collective]) -> Exchange:
        asked, latency = self._options.bandwidth, self._options.latency
        if not self._is_measured:
            return parse_bandwidth(asked or _DEFAULT_BANDWIDTH, latency)
        if latency is not None:
            self._notes.append(LATENCY_NOT_USED)
        if asked == "measure-processes":
            return measure_processes(collectives)
        return measure_devices(self._examined, timer, collectives)

    def _predict(
        self, timer: ComputeTimer, collectives: Sequence[Collective], exchange: Exchange, batch: int
    ) -> tuple[Sequence[Prediction], Sequence[Prediction]]:
        if self._placement.devices_per_replica > 1:
            strategy = type(get_owner(self._examined.call.model)).__name__
            self._notes.append(NOT_DIVIDED.format(strategy=strategy))
            return (), ()
        costs = CostModel(timer, collectives, exchange)
        rows = -(-batch // max(self._placement.num_replicas, self._options.devices or 1))
        try:
            numbers = choose_numbers(self._most_devices(timer.cores), *self._own_numbers())
            return costs.same_batch(batch, numbers), costs.same_rows(rows, numbers)
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            self._notes.append(NOT_ON_ONE.format(needed=str(error).splitlines()[0]))
            return (), ()

    def _own_numbers(self) -> list[int]:
        """The devices of the script's strategy, and those that were asked for."""
        return [self._placement.num_replicas, self._options.devices or 1]

    def _most_devices(self, cores: int | None) -> int:
        """CPU devices of this machine beyond its cores gain nothing: as many as there are cores, or as are wanted."""
        return MOST_DEVICES if cores is None else max(cores, *self._own_numbers())

    def _shared_cores(self) -> int | None:
        """CPU devices of this machine share its cores. Those behind a network that was named have their own."""
        return count_cores() if self._placement.platform == "cpu" and self._is_measured else None


def count_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
