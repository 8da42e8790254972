"""Checkpoints: objects in, folders out, and back.

```python
checkpoint = unisono.checkpoint.Checkpoint(model=model, optimizer=optimizer, data=iterator)
manager = unisono.checkpoint.CheckpointManager(checkpoint, "runs/mnist", policy=EverySeconds(30), background=True)
manager.restore_or_initialize()
for batch in iterator:
    train_step(batch)
    manager.save()
```
"""

from unisono._src.state.checkpoint._across_processes import load_on_chief
from unisono._src.state.checkpoint._attributes import names_by_attributes
from unisono._src.state.checkpoint._checkpoint import Checkpoint, commit_snapshot
from unisono._src.state.checkpoint._counter import SaveCounter
from unisono._src.state.checkpoint._fitting import describe_mismatch
from unisono._src.state.checkpoint._latest import checkpoints_iterator, latest_checkpoint
from unisono._src.state.checkpoint._manager import CheckpointManager
from unisono._src.state.checkpoint._names import named_variables
from unisono._src.state.checkpoint._newest import checkpoint_number, load_newest_good
from unisono._src.state.checkpoint._policies import (
    AnyOf,
    Best,
    EveryEpoch,
    EverySeconds,
    EverySteps,
    Progress,
    SavePolicy,
    newest_of_each_mark,
)
from unisono._src.state.checkpoint._preemption import PreemptionCheckpointHandler, TerminationConfig
from unisono._src.state.checkpoint._restore import CheckpointMismatch, apply_snapshot
from unisono._src.state.checkpoint._retention import RetentionRecord, delete_old_checkpoints
from unisono._src.state.checkpoint._snapshot import Snapshot, take_snapshot
from unisono._src.state.checkpoint._status import LoadStatus, abbreviate_names
from unisono._src.state.checkpoint._tree import Group
from unisono._src.state.store import BadCheckpoint, CheckpointError
