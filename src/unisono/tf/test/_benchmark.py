"""`tf.test.Benchmark`: classes whose methods `benchmark…` are run by `tf.test.main()` with `--benchmarks=all`."""

from __future__ import annotations

import inspect
import json
import re
import sys
from typing import Any, ClassVar

from unisono.tf._unsupported import unsupported_function

_NO_SESSION = (
    "there are no sessions; measure calls with time.perf_counter(), wait for results with "
    "tf.test.experimental.sync_devices(), and pass the seconds to report_benchmark."
)


class Benchmark:
    """A base class for benchmarks.

    ```python
    class Sums(tf.test.Benchmark):
        def benchmark_sum(self):
            start = time.perf_counter()
            tf.reduce_sum(tf.ones([1000])).block_until_ready()
            self.report_benchmark(iters=1, wall_time=time.perf_counter() - start)
    ```
    """

    _subclasses: ClassVar[list[type[Benchmark]]] = []

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Benchmark._subclasses.append(cls)

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether it is the base class itself."""
        return cls is Benchmark

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
        metrics: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """Prints a line of JSON with the results that are not None, and returns them.

        Args:
            iters: how often the code ran.
            cpu_time: the seconds of a run, on the processor.
            wall_time: the seconds of a run.
            throughput: how many MB per second were processed.
            extras: other results by name.
            name: the name; that of the class and the method that calls this function if None.
            metrics: results as dicts with "name" and "value".
        """
        entry = {
            "name": name or f"{type(self).__name__}.{_calling_benchmark()}",
            "iters": iters,
            "cpu_time": cpu_time,
            "wall_time": wall_time,
            "throughput": throughput,
            "extras": extras,
            "metrics": metrics,
        }
        found = {key: value for key, value in entry.items() if value is not None}
        print(json.dumps(found, default=str), flush=True)
        return found

    run_op_benchmark = unsupported_function("tf.test.Benchmark.run_op_benchmark", _NO_SESSION)


def run_benchmarks(arguments: list[str]) -> bool:
    """Runs the benchmarks that `--benchmarks=PATTERN` names, "all" for all of them; False without that argument."""
    pattern = next((each.partition("=")[2] for each in arguments if each.startswith("--benchmarks=")), None)
    if pattern is None:
        return False
    for kind in Benchmark._subclasses:
        for name in sorted(dir(kind)):
            is_wanted = pattern == "all" or re.search(pattern, f"{kind.__name__}.{name}")
            if name.startswith("benchmark") and is_wanted:
                getattr(kind(), name)()
    return True


def benchmark_config() -> None:
    """Returns None: there are no sessions to configure."""


def _calling_benchmark() -> str:
    names = (frame.function for frame in inspect.stack(0))
    return next((name for name in names if name.startswith("benchmark")), sys._getframe(2).f_code.co_name)
