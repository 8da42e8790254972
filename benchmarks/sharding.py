"""How fast is a step with sharded state? A transformer of 6 blocks is trained, interleaved, with the same shardings.

```
sharding.py                       all cases
sharding.py zero3-4 --rounds 5    one case, shorter
sharding.py --markdown            the table for the README from the last measurement
```
"""

from __future__ import annotations

import dataclasses
import sys

from _cases import HAND_WRITTEN, UNISONO
from _command import Benchmark, main
from _environments import Program, unisono_program
from _measure import Result
from _sharding import CASES, MIRRORED, MODEL_PARALLEL
from _step_table import FORM
from _transformer import ShardedWork

PROGRAMS = {
    UNISONO: unisono_program("contenders.unisono_sharded"),
    MIRRORED: unisono_program("contenders.unisono_mirrored_transformer"),
    HAND_WRITTEN: Program(module="contenders.hand_written_sharded", environment="jax"),
    MODEL_PARALLEL: Program(module="contenders.keras_model_parallel", environment="jax", keras_backend="jax"),
}


def _caption(result: Result, rounds: int) -> str:
    work = ShardedWork(**result.workload)
    mesh = " x ".join(f"{size} {axis}" for axis, size in work.mesh.items())
    return f"{work.devices} {work.platform} ({mesh}), global batch {work.rows}, {rounds} rounds of {work.steps} steps"


BENCHMARK = Benchmark(
    cases=CASES,
    programs=PROGRAMS,
    form=dataclasses.replace(FORM, caption=_caption),
    data=lambda _: "random tokens",
    prefix="sharding-",
)

if __name__ == "__main__":
    sys.exit(main(__doc__, BENCHMARK))
