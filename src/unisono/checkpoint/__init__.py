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

from unisono.checkpoint._attributes import names_by_attributes as names_by_attributes
from unisono.checkpoint._checkpoint import Checkpoint as Checkpoint
from unisono.checkpoint._checkpoint import commit_snapshot as commit_snapshot
from unisono.checkpoint._counter import SaveCounter as SaveCounter
from unisono.checkpoint._fitting import misfit as misfit
from unisono.checkpoint._keeping import Memory as Memory
from unisono.checkpoint._keeping import prune as prune
from unisono.checkpoint._latest import checkpoints_iterator as checkpoints_iterator
from unisono.checkpoint._latest import latest_checkpoint as latest_checkpoint
from unisono.checkpoint._manager import CheckpointManager as CheckpointManager
from unisono.checkpoint._names import named_variables as named_variables
from unisono.checkpoint._newest import newest_good as newest_good
from unisono.checkpoint._newest import number_of as number_of
from unisono.checkpoint._policies import AnyOf as AnyOf
from unisono.checkpoint._policies import Best as Best
from unisono.checkpoint._policies import EveryEpoch as EveryEpoch
from unisono.checkpoint._policies import EverySeconds as EverySeconds
from unisono.checkpoint._policies import EverySteps as EverySteps
from unisono.checkpoint._policies import Progress as Progress
from unisono.checkpoint._policies import SavePolicy as SavePolicy
from unisono.checkpoint._policies import newest_marked as newest_marked
from unisono.checkpoint._preemption import PreemptionCheckpointHandler as PreemptionCheckpointHandler
from unisono.checkpoint._preemption import TerminationConfig as TerminationConfig
from unisono.checkpoint._restore import CheckpointMismatch as CheckpointMismatch
from unisono.checkpoint._restore import apply_snapshot as apply_snapshot
from unisono.checkpoint._snapshot import Snapshot as Snapshot
from unisono.checkpoint._snapshot import snapshot as snapshot
from unisono.checkpoint._status import LoadStatus as LoadStatus
from unisono.checkpoint._status import listed as listed
from unisono.checkpoint._together import loaded_by_chief as loaded_by_chief
from unisono.checkpoint._tree import Group as Group
from unisono.store import BadCheckpoint as BadCheckpoint
from unisono.store import CheckpointError as CheckpointError
