"""Datasets as data: a source, frozen operations, and two executors that agree. No JAX and no Keras here."""

from unisono.plans._batch import Batch
from unisono.plans._cache import Cache
from unisono.plans._cardinality import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from unisono.plans._indexed import IndexedPlan, indexed
from unisono.plans._map import Map, apply
from unisono.plans._naive import iterate
from unisono.plans._nest import Nest, flatten, leaf_names, map_leaves, structure, unflatten
from unisono.plans._operation import Deferred, Operation, Path, Upstream
from unisono.plans._pass_batches import PassBatches
from unisono.plans._plan import Plan
from unisono.plans._prefetch import AUTOTUNE, Prefetch
from unisono.plans._repeat import Repeat
from unisono.plans._shuffle import Shuffle
from unisono.plans._source import ArraySlices, Source

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "ArraySlices",
    "Batch",
    "Cache",
    "Deferred",
    "IndexedPlan",
    "Map",
    "Nest",
    "Operation",
    "PassBatches",
    "Path",
    "Plan",
    "Prefetch",
    "Repeat",
    "Shuffle",
    "Source",
    "Upstream",
    "apply",
    "flatten",
    "indexed",
    "iterate",
    "leaf_names",
    "map_leaves",
    "structure",
    "unflatten",
]
