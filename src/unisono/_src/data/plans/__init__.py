"""Datasets as data: a source, frozen operations, and two executors that agree. No JAX and no Keras here."""

from unisono._src.data.plans._arguments import check_function, function_location, function_name
from unisono._src.data.plans._array_slices import ArraySlices
from unisono._src.data.plans._assert_cardinality import AssertCardinality
from unisono._src.data.plans._batch import Batch, ConcatenateBatches
from unisono._src.data.plans._buckets import Buckets
from unisono._src.data.plans._cache import Cache
from unisono._src.data.plans._choice_source import ChoiceSource, RandomChoices, sample_plans
from unisono._src.data.plans._composite_leaf import (
    CompositeLeaf,
    CompositeSpec,
    PaddedRagged,
    as_model_batch,
    register_file_kind,
)
from unisono._src.data.plans._compute_ahead import (
    ComputeAhead,
    ReadAheadElements,
    new_threads,
    num_host_threads,
    stop_threads,
)
from unisono._src.data.plans._concatenate import Concatenate
from unisono._src.data.plans._element_file import ElementFileError, ElementWriter
from unisono._src.data.plans._enumerate import Enumerate
from unisono._src.data.plans._file_cache import FileCache
from unisono._src.data.plans._file_sources import (
    FileSource,
    FixedLengthRecords,
    TextLines,
    TFRecords,
    file_names,
    find_files,
)
from unisono._src.data.plans._filter import Filter, TakeWhile
from unisono._src.data.plans._generator_source import GeneratorSource, ElementSignature
from unisono._src.data.plans._group_by_window import GroupByWindow
from unisono._src.data.plans._identity import (
    ComputedElement,
    Draw,
    RandomDraws,
    current_identity,
    next_draw,
    set_identity,
)
from unisono._src.data.plans._indexed import Identities, IndexedPlan, PassRows, index_plan
from unisono._src.data.plans._inspection import Inspection, SpecUnknownError
from unisono._src.data.plans._interleave import Interleave
from unisono._src.data.plans._leaf_rows import LeafRows
from unisono._src.data.plans._list_source import ListSource
from unisono._src.data.plans._loaded_source import LoadedSource
from unisono._src.data.plans._map import Map, as_arrays
from unisono._src.data.plans._nest import (
    Nest,
    apply,
    flatten,
    is_leaf,
    leaf_names,
    map_leaves,
    same_structure,
    structure,
    unflatten,
)
from unisono._src.data.plans._nested_dataset import is_dataset, plan_of
from unisono._src.data.plans._number_sources import Counter, RandomNumbers, Range
from unisono._src.data.plans._operation import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Deferred,
    Elements,
    Operation,
    PassId,
    State,
    Upstream,
)
from unisono._src.data.plans._options import AutoShardPolicy, DistributeOptions, Options, WithOptions, merge_options
from unisono._src.data.plans._padded_batch import PaddedBatch
from unisono._src.data.plans._pass_batches import PassBatches, repeat_last_row
from unisono._src.data.plans._passes import StatelessElements, map_deferred
from unisono._src.data.plans._plan import Plan, iterate
from unisono._src.data.plans._prefetch import AUTOTUNE, Prefetch
from unisono._src.data.plans._ray_source import RayBlocks
from unisono._src.data.plans._read_files import ReadFiles
from unisono._src.data.plans._repeat import Repeat
from unisono._src.data.plans._row_arrays import as_read_only, read_row
from unisono._src.data.plans._row_plan import IndexedMap, RowPlan
from unisono._src.data.plans._scan import Scan, check_state_type
from unisono._src.data.plans._shard import Shard
from unisono._src.data.plans._shuffle import Shuffle
from unisono._src.data.plans._skip import Skip
from unisono._src.data.plans._source import Source
from unisono._src.data.plans._spec import (
    DatasetSpec,
    TensorSpec,
    find_open_sizes,
    leave_open,
    map_specs,
    merge_leaves,
    spec_of_leaf,
)
from unisono._src.data.plans._take import Take
from unisono._src.data.plans._unbatch import Rebatch, Unbatch
from unisono._src.data.plans._unique import Unique
from unisono._src.data.plans._window import Window
from unisono._src.data.plans._zip import ZippedPlans
