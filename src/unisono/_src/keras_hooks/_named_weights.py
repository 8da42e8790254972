"""Hook: sample weights by the names of outputs, for models that return a list of outputs.

Checked against Keras 3.15.1: `CompileLoss.call` puts a dict of targets into the order of `output_names` where the model
returns a list, and leaves a dict of weights as it is, which ends in `KeyError: 0`.
"""

from __future__ import annotations

import functools
from typing import Any

from keras.src.trainers.compile_utils import CompileLoss

OTHER_NAMES = """sample_weight has the keys {found}, and the outputs of the model are {expected}. Give a weight for each
output by its name, or one array for all of them."""


def accept_named_sample_weights() -> None:
    """Installs the hook."""
    original = CompileLoss.call

    @functools.wraps(original)
    def call(self: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        names = self.output_names
        if isinstance(sample_weight, dict) and isinstance(y_pred, list | tuple) and names:
            if set(sample_weight) != set(names):
                raise ValueError(OTHER_NAMES.format(found=sorted(sample_weight), expected=list(names)))
            sample_weight = [sample_weight[name] for name in names]
        return original(self, y_true, y_pred, sample_weight)

    CompileLoss.call = call
