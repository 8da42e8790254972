"""from_ray: the blocks of a Ray Dataset. `Dataset.from_ray` unbatches them.

Ray is not imported here: whoever has a Ray Dataset has imported it. Only its public methods are called.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._operation import UNKNOWN_CARDINALITY, Deferred, Elements, PassId, State
from unisono._src.data.plans._source import Source
from unisono._src.data.plans._spec import TensorSpec

NOT_RAY_DATA = "from_ray: expected a ray.data.Dataset, or what ray.train.get_dataset_shard(name) returns; got {kind}."

NOT_ONE_ARRAY = """from_ray: the rows of column {column!r} are not arrays of one shape and dtype: {found}. Make them so
in Ray, as in ds.map_batches(pad), or leave the column out: ds.drop_columns([{column!r}])."""

RESUME_CAVEAT = """from_ray: Ray may give the rows of this shard in another order, or to another worker, when it is read
again. A run that is resumed within an epoch is then not exact. unisono.ray.Trainer sets an order; with another trainer
pass DataConfig(execution_options=ExecutionOptions(preserve_order=True)) as its dataset_config."""

OTHER_DTYPE = """from_ray: column {column!r} has rows of {found}, but the schema of the dataset says {expected}. Missing
values do this; ds.map_batches can replace them."""


@dataclass(frozen=True, eq=False)
class RayBlocks(Source):
    """The blocks of a Ray Dataset, or of its shard for a worker of Ray Train: dicts of NumPy arrays, one per column.

    A block is not copied where Ray gives out a view of its object store. Ray reads the blocks in their order, so that
    every pass has the same rows unless the dataset itself is random.
    """

    random_access = False
    gives_single_rows = True  # with the unbatch that always follows

    data: Any
    columns: dict[str, TensorSpec] | None = field(init=False)
    """What the schema says of each column; None if it does not say enough."""
    keeps_order: bool = field(init=False)
    """Whether another pass has the same rows in the same order, as far as Ray's settings decide it."""

    def __post_init__(self) -> None:
        ray_data = sys.modules.get("ray.data")
        if ray_data is None or not isinstance(self.data, ray_data.Dataset | ray_data.DataIterator):
            raise TypeError(NOT_RAY_DATA.format(kind=type(self.data).__name__))
        context = self.data.get_context() if isinstance(self.data, ray_data.DataIterator) else self.data.context
        if not self.is_shard:  # all workers read it, and must read the same
            context.execution_options.preserve_order = True
        # Once, and now: a shard cannot be asked for it while it is read, and reading it waits for the other workers.
        object.__setattr__(self, "columns", _columns_of(self.data.schema()))
        object.__setattr__(self, "keeps_order", bool(context.execution_options.preserve_order))

    @property
    def is_shard(self) -> bool:
        """Whether other workers have other rows."""
        return hasattr(self.data, "world_size")

    @property
    def resume_caveat(self) -> str | None:
        return None if self.keeps_order else RESUME_CAVEAT

    @property
    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def elements(self, pass_id: PassId) -> Elements:
        return _Blocks(self)

    def element_spec(self, inspection: Inspection) -> Nest:
        if self.columns is None:
            return inspection.observe()
        return {name: TensorSpec((None, *spec.shape), spec.dtype) for name, spec in self.columns.items()}

    def __str__(self) -> str:
        return f"from_ray({'' if self.columns is None else ', '.join(self.columns)})"


class _Blocks(Elements):
    """One pass. Its state is the number of rows that were read."""

    def __init__(self, source: RayBlocks) -> None:
        self._source = source
        self._blocks: Iterator[dict[str, Any]] | None = None
        self._position = 0

    def __next__(self) -> Deferred:
        if self._blocks is None:
            self._blocks = _open(self._source.data)
        block = next(self._blocks)
        columns = {name: _as_array(name, column) for name, column in block.items()}
        if self._source.columns is not None:
            _check_dtypes(columns, self._source.columns)
        self._position += _num_rows(block)
        return lambda: columns

    def get_state(self) -> State:
        return self._position

    def set_state(self, state: State) -> None:
        self.close()
        data = self._source.data
        if state and hasattr(data, "split_at_indices") and type(data).__name__ == "MaterializedDataset":
            self._blocks = _open(data.split_at_indices([state])[1])
        elif state:
            self._blocks = _skip_rows(_open(data), state)
        self._position = state

    def close(self) -> None:
        blocks, self._blocks, self._position = self._blocks, None, 0
        close = getattr(blocks, "close", None)
        if close is not None:
            close()


def _open(data: Any) -> Iterator[dict[str, Any]]:
    # Whole blocks (batch_size None): Ray then neither cuts nor joins them.
    return iter(data.iter_batches(batch_size=None, batch_format="numpy"))


def _skip_rows(blocks: Iterator[dict[str, Any]], number: int) -> Iterator[dict[str, Any]]:
    """The blocks after so many rows."""
    for block in blocks:
        skipped = min(number, _num_rows(block))
        number -= skipped
        if skipped < _num_rows(block):
            yield {name: column[skipped:] for name, column in block.items()}


def _num_rows(block: dict[str, Any]) -> int:
    return len(next(iter(block.values()), ()))


def _columns_of(schema: Any) -> dict[str, TensorSpec] | None:
    if schema is None:
        return None
    specs = {name: _spec_of(kind) for name, kind in zip(schema.names, schema.types, strict=True)}
    known = {name: spec for name, spec in specs.items() if spec is not None}
    return known if len(known) == len(specs) else None


def _spec_of(kind: Any) -> TensorSpec | None:
    """The row of a column of this type of Arrow or NumPy; None if its shape differs from row to row, or is unknown."""
    if isinstance(kind, np.dtype):
        return TensorSpec((), kind) if kind.kind in "biufcM" else None
    name = str(kind)
    if name in ("string", "large_string", "binary", "large_binary"):
        return TensorSpec((), object)
    shape = getattr(kind, "shape", ())
    if shape is None or None in shape or name.startswith(("list", "large_list", "struct", "extension<")):
        return None
    scalar = kind.storage_type.value_type if shape else kind
    if getattr(scalar, "num_fields", 0):
        return None
    try:
        dtype = np.dtype(scalar.to_pandas_dtype())
    except (AttributeError, NotImplementedError, TypeError):
        return None
    return TensorSpec(tuple(shape), dtype) if dtype.kind in "biufcM" else None


def _as_array(name: str, column: Any) -> np.ndarray[Any, Any]:
    """A column as an array whose first dim are the rows; texts as byte strings."""
    array = np.asarray(column)
    if array.dtype != object:
        return array
    kinds = {type(cell) for cell in array.tolist()}
    if kinds <= {str, bytes}:
        texts = np.empty(len(array), object)
        texts[:] = [cell.encode() if isinstance(cell, str) else cell for cell in array.tolist()]
        return texts
    cells = [np.asarray(cell) for cell in array.tolist()]
    found = sorted({f"{cell.dtype}{list(cell.shape)}" for cell in cells})
    if len(found) > 1 or cells[0].dtype == object:
        raise TypeError(NOT_ONE_ARRAY.format(column=name, found=" and ".join(found[:3])))
    return np.stack(cells)


def _check_dtypes(columns: dict[str, np.ndarray[Any, Any]], expected: dict[str, TensorSpec]) -> None:
    for name, column in columns.items():
        spec = expected.get(name)
        if spec is not None and column.dtype != spec.dtype:
            raise TypeError(OTHER_DTYPE.format(column=name, found=column.dtype, expected=spec.dtype))
