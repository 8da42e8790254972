"""Settings of the process.

```python
import unisono

unisono.config.set_cpu_devices(4)         # four CPU replicas, for testing
unisono.config.deterministic()            # the same bits in every run, even on GPUs
unisono.config.set_residency("host")      # keep training data off the devices
```
"""

from unisono._src.devices import (
    deterministic, residency, sequence_padding, set_cpu_devices, set_residency, set_sequence_padding, set_sync_check,
    sync_check,
)

__all__ = [
    "deterministic", "residency", "sequence_padding", "set_cpu_devices", "set_residency", "set_sequence_padding",
    "set_sync_check", "sync_check",
]
