"""How fast are two worker processes? Unisono and other libraries train, interleaved, each as a pair of processes.

```
workers.py                  all cases
workers.py 32 --rounds 5    one case, shorter
workers.py --markdown       the table for the README from the last measurement
```
"""

from __future__ import annotations

import sys

import _data
from _cases import TENSORFLOW, TORCH, UNISONO
from _command import Benchmark, main
from _environments import Program, unisono_program
from _step_table import FORM
from _workers import CASES, TORCH_TUNED, UNISONO_FIT

PROGRAMS = {
    UNISONO: unisono_program("contenders.unisono_workers"),
    UNISONO_FIT: unisono_program("contenders.unisono_workers_fit"),
    TENSORFLOW: Program(module="contenders.tf_workers", environment="tensorflow", keras_backend="tensorflow"),
    TORCH: Program(module="contenders.torch_workers", environment="loaders"),
    TORCH_TUNED: Program(module="contenders.torch_workers_tuned", environment="loaders"),
}

BENCHMARK = Benchmark(cases=CASES, programs=PROGRAMS, form=FORM, data=lambda _: _data.source(), prefix="workers-")

if __name__ == "__main__":
    sys.exit(main(__doc__, BENCHMARK))
