"""Checkpoints: save objects to a folder, and restore them.

```python
checkpoint = unisono.checkpoint.Checkpoint(model=model, optimizer=optimizer, data=iterator)
manager = unisono.checkpoint.CheckpointManager(
    checkpoint, "runs/mnist", policy=unisono.checkpoint.EverySeconds(30), background=True
)
manager.restore_or_initialize()
for batch in iterator:
    train_step(batch)
    manager.save()
```
"""

from unisono._src.processes import request_preemption
from unisono._src.state.checkpoint import (
    AnyOf, Best, Checkpoint, CheckpointManager, CheckpointMismatch, EveryEpoch, EverySeconds, EverySteps, LoadStatus,
    PreemptionCheckpointHandler, Progress, SavePolicy, TerminationConfig, checkpoints_iterator, latest_checkpoint,
)
from unisono._src.state.store import BadCheckpoint, CheckpointError

__all__ = [
    "AnyOf", "BadCheckpoint", "Best", "Checkpoint", "CheckpointError", "CheckpointManager", "CheckpointMismatch",
    "EveryEpoch", "EverySeconds", "EverySteps", "LoadStatus", "PreemptionCheckpointHandler", "Progress", "SavePolicy",
    "TerminationConfig", "checkpoints_iterator", "latest_checkpoint", "request_preemption",
]
