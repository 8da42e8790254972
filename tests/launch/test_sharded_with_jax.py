"""`unisono run --sharded`: a script that uses `MirroredStrategy`, as its user runs it."""

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SCRIPT = """
import numpy as np
import {module} as tf
strategy = tf.distribute.{strategy}()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((64,)), tf.keras.layers.Dense(32, kernel_initializer="ones")])
    model.compile("adam", "mse")
x = np.ones((8, 64), "float32")
model.fit(x, x[:, :32], batch_size=4, verbose=0)
kernel = model.layers[-1].kernel.value
shapes = {{shard.data.shape for shard in kernel.addressable_shards}}
print(type(strategy).__name__, strategy.num_replicas_in_sync, kernel.shape, *sorted(shapes))
"""


def test_a_tensorflow_script_is_sharded_without_a_change(run):
    script = SCRIPT.format(module="tensorflow", strategy="MirroredStrategy")
    code, out, err = run(script, "--sharded", "--as-tensorflow", "--devices", "cpu:2")
    assert code == 0, err
    assert "MirroredStrategy 2 (64, 32) (32, 32)" in out


@pytest.mark.full
def test_the_kernel_of_several_workers_is_divided_among_them(run):
    script = SCRIPT.format(module="unisono.tf", strategy="MultiWorkerMirroredStrategy")
    code, out, err = run(script, "-n", "2", "--sharded", "--devices", "cpu:2")
    assert code == 0, err
    assert out.count("MultiWorkerMirroredStrategy 4 (64, 32) (16, 32)") == 2


@pytest.mark.full
def test_workers_with_different_strategies_are_refused(run):
    script = 'os.environ["UNISONO_STRATEGY"] = "sharded" if rank else "mirrored"\n' + SCRIPT.format(
        module="unisono.tf", strategy="MultiWorkerMirroredStrategy"
    )
    code, _, err = run(script, "-n", "2", "--devices", "cpu:1")
    assert code != 0
    assert "UNISONO_STRATEGY" in err
