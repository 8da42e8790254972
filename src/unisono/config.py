"""Settings of the process.

```python
import unisono

unisono.config.set_cpu_devices(4)         # four CPU replicas, for trying things out
unisono.config.deterministic()            # the same bits in every run, on GPUs too
unisono.config.set_residency("host")      # keep training data off the devices
```
"""

from unisono.runtime import deterministic as deterministic
from unisono.runtime import residency as residency
from unisono.runtime import set_cpu_devices as set_cpu_devices
from unisono.runtime import set_residency as set_residency
from unisono.runtime import set_sync_check as set_sync_check
from unisono.runtime import sync_check as sync_check
