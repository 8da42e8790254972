"""Datasets as data: a source, frozen operations, and two executors that agree. No JAX and no Keras here."""

from unisono.plans._array_slices import ArraySlices
from unisono.plans._assert_cardinality import AssertCardinality
from unisono.plans._batch import Batch
from unisono.plans._branch import OnBranch
from unisono.plans._bucket import Buckets
from unisono.plans._cache import Cache
from unisono.plans._cardinality import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from unisono.plans._choose import Choices, Chosen
from unisono.plans._concatenate import Concatenate
from unisono.plans._counted import Counted
from unisono.plans._element_file import ElementFileError, ElementWriter
from unisono.plans._endless import Counter, RandomNumbers
from unisono.plans._enumerate import Enumerate
from unisono.plans._file_cache import FileCache
from unisono.plans._files import Files, FixedLengthRecords, Records, TextLines
from unisono.plans._filter import Filter
from unisono.plans._generator import Generated, Signature
from unisono.plans._group import GroupByWindow
from unisono.plans._identity import Computed, Draw, drawing, epoch_of, identify, identity, next_draw
from unisono.plans._indexed import Identities, IndexedMap, IndexedPlan, PassRows, indexed
from unisono.plans._interleave import Interleave
from unisono.plans._join import Join
from unisono.plans._listed import Listed
from unisono.plans._loaded import Loaded
from unisono.plans._map import Map, apply, as_arrays, check_function, function_name
from unisono.plans._naive import iterate
from unisono.plans._nest import Nest, flatten, is_leaf, leaf_names, map_leaves, same_structure, structure, unflatten
from unisono.plans._operation import Deferred, Elements, Operation, Path, State, Upstream
from unisono.plans._options import AutoShardPolicy, DistributeOptions, Options, WithOptions
from unisono.plans._padded_batch import PaddedBatch
from unisono.plans._parallel import Parallel, num_host_threads
from unisono.plans._pass_batches import PassBatches, lengthened
from unisono.plans._plan import Plan
from unisono.plans._prefetch import AUTOTUNE, Prefetch
from unisono.plans._range import Range
from unisono.plans._repeat import Repeat
from unisono.plans._rows import read_only
from unisono.plans._scan import Scan, check_kept
from unisono.plans._shard import Shard
from unisono.plans._shuffle import Shuffle
from unisono.plans._skip import Skip
from unisono.plans._source import Source
from unisono.plans._stateless import Stateless, each
from unisono.plans._take import Take
from unisono.plans._take_while import TakeWhile
from unisono.plans._unbatch import Rebatch, Unbatch
from unisono.plans._unique import Unique
from unisono.plans._window import Window
from unisono.plans._zip import Zipped

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
