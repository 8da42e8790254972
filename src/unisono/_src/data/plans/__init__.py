"""Datasets as data: a source, frozen operations, and two executors that agree. No JAX and no Keras here."""

from unisono._src.data.plans._array_slices import ArraySlices
from unisono._src.data.plans._assert_cardinality import AssertCardinality
from unisono._src.data.plans._batch import Batch
from unisono._src.data.plans._branch import OnBranch
from unisono._src.data.plans._bucket import Buckets
from unisono._src.data.plans._cache import Cache
from unisono._src.data.plans._cardinality import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from unisono._src.data.plans._choose import Choices, Chosen
from unisono._src.data.plans._concatenate import Concatenate
from unisono._src.data.plans._counted import Counted
from unisono._src.data.plans._element_file import ElementFileError, ElementWriter
from unisono._src.data.plans._endless import Counter, RandomNumbers
from unisono._src.data.plans._enumerate import Enumerate
from unisono._src.data.plans._file_cache import FileCache
from unisono._src.data.plans._files import Files, FixedLengthRecords, Records, TextLines
from unisono._src.data.plans._filter import Filter
from unisono._src.data.plans._generator import Generated, Signature
from unisono._src.data.plans._group import GroupByWindow
from unisono._src.data.plans._identity import Computed, Draw, drawing, epoch_of, identify, identity, next_draw
from unisono._src.data.plans._indexed import Identities, IndexedMap, IndexedPlan, PassRows, indexed
from unisono._src.data.plans._interleave import Interleave
from unisono._src.data.plans._join import Join
from unisono._src.data.plans._listed import Listed
from unisono._src.data.plans._loaded import Loaded
from unisono._src.data.plans._map import Map, apply, as_arrays, check_function, function_name
from unisono._src.data.plans._naive import iterate
from unisono._src.data.plans._nest import (
    Nest,
    flatten,
    is_leaf,
    leaf_names,
    map_leaves,
    same_structure,
    structure,
    unflatten,
)
from unisono._src.data.plans._operation import Deferred, Elements, Operation, Path, State, Upstream
from unisono._src.data.plans._options import AutoShardPolicy, DistributeOptions, Options, WithOptions
from unisono._src.data.plans._padded_batch import PaddedBatch
from unisono._src.data.plans._parallel import Parallel, num_host_threads
from unisono._src.data.plans._pass_batches import PassBatches, lengthened
from unisono._src.data.plans._plan import Plan
from unisono._src.data.plans._prefetch import AUTOTUNE, Prefetch
from unisono._src.data.plans._range import Range
from unisono._src.data.plans._repeat import Repeat
from unisono._src.data.plans._rows import read_only
from unisono._src.data.plans._scan import Scan, check_kept
from unisono._src.data.plans._shard import Shard
from unisono._src.data.plans._shuffle import Shuffle
from unisono._src.data.plans._skip import Skip
from unisono._src.data.plans._source import Source
from unisono._src.data.plans._stateless import Stateless, each
from unisono._src.data.plans._take import Take
from unisono._src.data.plans._take_while import TakeWhile
from unisono._src.data.plans._unbatch import Rebatch, Unbatch
from unisono._src.data.plans._unique import Unique
from unisono._src.data.plans._window import Window
from unisono._src.data.plans._zip import Zipped

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "ArraySlices",
    "AssertCardinality",
    "AutoShardPolicy",
    "Batch",
    "Buckets",
    "Cache",
    "Choices",
    "Chosen",
    "Computed",
    "Concatenate",
    "Counted",
    "Counter",
    "Deferred",
    "DistributeOptions",
    "Draw",
    "ElementFileError",
    "ElementWriter",
    "Elements",
    "Enumerate",
    "FileCache",
    "Files",
    "Filter",
    "FixedLengthRecords",
    "Generated",
    "GroupByWindow",
    "Identities",
    "IndexedMap",
    "IndexedPlan",
    "Interleave",
    "Join",
    "Listed",
    "Loaded",
    "Map",
    "Nest",
    "OnBranch",
    "Operation",
    "Options",
    "PaddedBatch",
    "Parallel",
    "PassBatches",
    "PassRows",
    "Path",
    "Plan",
    "Prefetch",
    "RandomNumbers",
    "Range",
    "Rebatch",
    "Records",
    "Repeat",
    "Scan",
    "Shard",
    "Shuffle",
    "Signature",
    "Skip",
    "Source",
    "State",
    "Stateless",
    "Take",
    "TakeWhile",
    "TextLines",
    "Unbatch",
    "Unique",
    "Upstream",
    "Window",
    "WithOptions",
    "Zipped",
    "apply",
    "as_arrays",
    "check_function",
    "check_kept",
    "drawing",
    "each",
    "epoch_of",
    "flatten",
    "function_name",
    "identify",
    "identity",
    "indexed",
    "is_leaf",
    "iterate",
    "leaf_names",
    "lengthened",
    "map_leaves",
    "next_draw",
    "num_host_threads",
    "read_only",
    "same_structure",
    "structure",
    "unflatten",
]
