"""`tf.test.Benchmark` and `tf.test.experimental.sync_devices`."""

import json

import pytest

import unisono.tf as tf


class Totals(tf.test.Benchmark):
    """Two benchmarks and a method that is none."""

    def benchmark_small(self) -> None:
        assert int(tf.reduce_sum(tf.range(3))) == 3
        self.report_benchmark(iters=2, wall_time=0.5, extras={"rows": 3})

    def benchmark_named(self) -> None:
        self.report_benchmark(name="other", throughput=1.0)

    def help(self) -> None:
        raise AssertionError


def test_main_runs_the_benchmarks_that_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    tf.test.main(["script.py", "--benchmarks=Totals"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        {"name": "other", "throughput": 1.0},
        {"name": "Totals.benchmark_small", "iters": 2, "wall_time": 0.5, "extras": {"rows": 3}},
    ]
    tf.test.main(["script.py", "--benchmarks=Totals.benchmark_sm"])
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_what_needs_a_session_says_what_to_do() -> None:
    with pytest.raises(NotImplementedError, match=r"time\.perf_counter\(\)"):
        Totals().run_op_benchmark(None, None)
    assert tf.test.Benchmark.is_abstract()
    assert not Totals.is_abstract()
    assert tf.test.benchmark_config() is None
    tf.test.experimental.sync_devices()
