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

from unisono._src.state.checkpoint._attributes import names_by_attributes
from unisono._src.state.checkpoint._checkpoint import Checkpoint, commit_snapshot
from unisono._src.state.checkpoint._counter import SaveCounter
from unisono._src.state.checkpoint._fitting import misfit
from unisono._src.state.checkpoint._keeping import Memory, prune
from unisono._src.state.checkpoint._latest import checkpoints_iterator, latest_checkpoint
from unisono._src.state.checkpoint._manager import CheckpointManager
from unisono._src.state.checkpoint._names import named_variables
from unisono._src.state.checkpoint._newest import newest_good, number_of
from unisono._src.state.checkpoint._policies import (
    AnyOf,
    Best,
    EveryEpoch,
    EverySeconds,
    EverySteps,
    Progress,
    SavePolicy,
    newest_marked,
)
from unisono._src.state.checkpoint._preemption import PreemptionCheckpointHandler, TerminationConfig
from unisono._src.state.checkpoint._restore import CheckpointMismatch, apply_snapshot
from unisono._src.state.checkpoint._snapshot import Snapshot, snapshot
from unisono._src.state.checkpoint._status import LoadStatus, listed
from unisono._src.state.checkpoint._together import loaded_by_chief
from unisono._src.state.checkpoint._tree import Group
from unisono._src.state.store import BadCheckpoint, CheckpointError
