"""Checkpoints of objects: models, optimizers, iterators and values to a folder, and back.

The arrays and their folders are `state.store`'s; what they mean, by name and by object, is decided here.
"""

from unisono._src.state.checkpoint._across_processes import load_newest_via_chief, load_via_chief, run_on_all
from unisono._src.state.checkpoint._attributes import names_by_attributes
from unisono._src.state.checkpoint._checkpoint import Checkpoint
from unisono._src.state.checkpoint._counter import SaveCounter
from unisono._src.state.checkpoint._deferred import DeferredValues
from unisono._src.state.checkpoint._latest import checkpoints_iterator, latest_checkpoint
from unisono._src.state.checkpoint._manager import CheckpointManager
from unisono._src.state.checkpoint._names import describe_mismatch, named_variables
from unisono._src.state.checkpoint._pieces import copy_values, place_like
from unisono._src.state.checkpoint._policies import (
    AnyOf, Best, EveryEpoch, EverySeconds, EverySteps, Progress, SavePolicy,
)
from unisono._src.state.checkpoint._preemption_handler import PreemptionCheckpointHandler, TerminationConfig
from unisono._src.state.checkpoint._restore import CheckpointMismatch, apply_snapshot
from unisono._src.state.checkpoint._retention import RetentionRecord, delete_old_checkpoints
from unisono._src.state.checkpoint._snapshot import Snapshot, take_snapshot
from unisono._src.state.checkpoint._status import LoadStatus, Restored, abbreviate_names
from unisono._src.state.checkpoint._tree import Group, children, join_path
from unisono._src.state.checkpoint._writer import CheckpointWriter
from unisono._src.state.store import BadCheckpoint, CheckpointError
