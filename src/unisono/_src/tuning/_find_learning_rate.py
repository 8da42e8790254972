"""`unisono.find_learning_rate`: a learning rate range test."""

from __future__ import annotations

import warnings
from typing import Any, Final

import keras
import numpy as np

from unisono._src import keras_hooks
from unisono._src.data.dataset import Dataset
from unisono._src.planning import examine_model, preserve_state
from unisono._src.training import without_recording
from unisono._src.tuning._learning_rate_curve import LearningRateCurve

_NAME: Final = "find_learning_rate"

# The test ends when the smoothed loss is this many times its smallest value: larger rates are worse.
_DIVERGED: Final = 4.0

WRONG_RANGE = """find_learning_rate: the rates go from low={low!r} to high={high!r} in {steps!r} steps. Write
0 < low < high and at least 10 steps."""

NO_OPTIMIZER = """find_learning_rate: model.optimizer is {found}, and the test varies the learning rate of that one.
Pass an optimizer to model.compile(...)."""


def find_learning_rate(
    model: Any,
    data: Any,
    *,
    batch_size: int | None = None,
    low: float = 1e-6,
    high: float = 10.0,
    steps: int = 100,
) -> LearningRateCurve:
    """Trains a few steps with a learning rate that grows at every step, and undoes them.

    The loss of each step over its learning rate shows which rates work, and at which rate training diverges. The test
    stops there. Weights, optimizer, metrics, random states, `model.history` and ``data`` are restored to the last bit.

    ```python
    found = unisono.find_learning_rate(model, (x, y), batch_size=256)
    model.optimizer.learning_rate = found.suggestion
    found.save("lr.svg")  # notebooks display the curve
    ```

    Args:
        model: a compiled model of a strategy.
        data: a tuple ``(x, y)`` or ``(x, y, sample_weight)`` of arrays, a batched `unisono.data.Dataset`, or a
            `keras.utils.PyDataset`. If there are fewer batches than ``steps``, they are repeated.
        batch_size: the global batch size, for arrays (default: 32). Use the batch size that you will train with.
        low: the first learning rate.
        high: the last learning rate.
        steps: the largest number of steps to train. The rate grows by the same factor at every step.
    """
    if not (0 < low < high and steps >= 10):
        raise ValueError(WRONG_RANGE.format(low=low, high=high, steps=steps))
    with examine_model(model, data, batch_size, _NAME) as examined:
        if not isinstance(model.optimizer, keras.optimizers.Optimizer):
            raise ValueError(NO_OPTIMIZER.format(found=type(model.optimizer).__name__))
        recorder = _LossRecorder(steps)
        schedule = RangeTestSchedule(low, high, steps, _count_steps(model.optimizer))
        with (
            preserve_state(examined.call, examined.variables),
            keras_hooks.use_learning_rate(model.optimizer, schedule),
            warnings.catch_warnings(),
            without_recording(),
        ):
            # The test continues until the loss is not finite any more.
            warnings.filterwarnings("ignore", message="The loss is", category=RuntimeWarning)
            _fit(model, data, batch_size, recorder)
    rates = schedule.rates()[: len(recorder.losses)]
    return LearningRateCurve(tuple(rates.tolist()), tuple(recorder.losses))


def _count_steps(optimizer: Any) -> int:
    """With what a schedule would be called next. `iterations` is less if the optimizer accumulates gradients."""
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)  # that of a LossScaleOptimizer
    return int(next(variable for variable in optimizer.variables if variable.name == "iteration"))


def _fit(model: Any, data: Any, batch_size: int | None, recorder: _LossRecorder) -> None:
    options: dict[str, Any] = {"epochs": recorder.steps, "verbose": 0, "callbacks": [recorder]}
    if isinstance(data, Dataset):
        model.fit(Dataset(data._plan), **options)  # another object: passes of `data` are not counted
    elif isinstance(data, keras.utils.PyDataset):
        model.fit(data, **options)
    else:
        x, y, sample_weight = keras_hooks.unpack(data)
        model.fit(x, y, sample_weight=sample_weight, batch_size=batch_size, **options)


class RangeTestSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """Rates from ``low`` to ``high``, each larger than the one before by the same factor."""

    def __init__(self, low: float, high: float, steps: int, first_step: int):
        super().__init__()
        self._low, self._growth, self._steps, self._first = low, (high / low) ** (1 / (steps - 1)), steps, first_step

    def rates(self) -> np.ndarray[Any, Any]:
        """All of them."""
        return np.geomspace(self._low, self._low * self._growth ** (self._steps - 1), self._steps)

    def __call__(self, step: Any) -> Any:
        done = keras.ops.cast(step - self._first, "float32")  # as a float32, a step beyond 16,777,216 is inexact
        return self._low * keras.ops.exp(done * float(np.log(self._growth)))

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError("This schedule is in use during find_learning_rate only: nothing saves it.")


class _LossRecorder(keras.callbacks.Callback):
    """The loss of every step by itself. Ends training after the last step, or when the loss diverges."""

    def __init__(self, steps: int):
        super().__init__()
        self.steps = steps
        self.losses: list[float] = []

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.model.reset_metrics()  # else the loss in the logs is the mean of all steps

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.losses.append(float((logs or {}).get("loss", np.nan)))
        if len(self.losses) == self.steps or self.has_diverged:
            self.model.stop_training = True

    @property
    def has_diverged(self) -> bool:
        """Whether the last loss is not finite, or far above the smallest one."""
        if not np.isfinite(self.losses[-1]):
            return True
        smoothed = LearningRateCurve((1.0,) * len(self.losses), tuple(self.losses)).smoothed
        smallest = min(smoothed)
        # A loss below 0, such as CosineSimilarity's, is no measure of itself: how far it has fallen counts, too.
        size = smallest if smallest > 0 else max(-smallest, smoothed[0] - smallest)
        return smoothed[-1] - smallest > (_DIVERGED - 1) * size
