"""How fast is a custom training loop? Unisono and other libraries train on prepared batches, interleaved.

```
loops.py                    all cases
loops.py 2 --rounds 5       two replicas only, shorter
loops.py --markdown         the table for the README from the last measurement
```
"""

from __future__ import annotations

import sys

import _data
from _cases import HAND_WRITTEN, TENSORFLOW, UNISONO
from _command import Benchmark, main
from _environments import Program, unisono_program
from _loops import CASES, EAGER
from _step_table import FORM

PROGRAMS = {
    UNISONO: unisono_program("contenders.unisono_loop"),
    EAGER: unisono_program("contenders.unisono_loop_eager"),
    HAND_WRITTEN: Program(module="contenders.hand_written_loop", environment="jax"),
    TENSORFLOW: Program(module="contenders.tf_loop", environment="tensorflow", keras_backend="tensorflow"),
}

BENCHMARK = Benchmark(cases=CASES, programs=PROGRAMS, form=FORM, data=lambda _: _data.source(), prefix="loops-")

if __name__ == "__main__":
    sys.exit(main(__doc__, BENCHMARK))
