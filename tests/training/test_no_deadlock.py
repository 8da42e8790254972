"""Promise 4 on CPU devices: thousands of launches in a row never wedge XLA:CPU, whatever the number of cores."""

import os
import subprocess
import sys

import pytest

CODE = """if True:
    import sys
    import keras, numpy as np, unisono

    replicas, form, steps = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    strategy = unisono.MirroredStrategy([f"cpu:{i}" for i in range(replicas)])
    keras.utils.set_random_seed(0)
    with strategy.scope():
        layers = [keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)]
        if form == "plain":  # a convolution: every step is a launch of its own
            layers = [keras.layers.Reshape((8, 1)), keras.layers.Conv1D(2, 3), keras.layers.Flatten(), *layers]
        model = keras.Sequential([keras.Input((8,)), *layers])
        model.compile("adam", "mse")
    x, y = np.random.rand(steps * replicas, 8), np.random.rand(steps * replicas, 1)

    class EveryStep(keras.callbacks.Callback):
        steps = 0
        def on_train_batch_end(self, batch, logs=None):
            self.steps += 1

    every = EveryStep()
    model.fit(x, y, batch_size=replicas, verbose=0, callbacks=[every] if form == "loop" else [])
    assert {program.form for program in unisono._src.training.programs(model)} == {form}
    model.evaluate(x, y, batch_size=replicas, verbose=0)
    model.predict(x, batch_size=replicas, verbose=0)
    print(int(model.optimizer.iterations.numpy()), len(strategy.extended.worker_devices))
"""


@pytest.mark.timeout(420)
@pytest.mark.parametrize(
    ("replicas", "form", "steps"),
    [
        (8, "plain", 300),
        *(pytest.param(n, form, 3000, marks=pytest.mark.full) for n in (4, 8) for form in ("loop", "plain")),
    ],
)
@pytest.mark.full
def test_thousands_of_single_step_calls_in_a_row_end(replicas: int, form: str, steps: int) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("UNISONO_CPU_DEVICES", "NPROC")}
    result = subprocess.run(
        [sys.executable, "-c", CODE, str(replicas), form, str(steps)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    assert result.stdout.split() == [str(steps), str(replicas)]
