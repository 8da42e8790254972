"""Hook: the state that a recurrent layer with `stateful=True` keeps goes on from batch to batch in compiled steps too.

Checked against Keras 3.15.1: `RNN.states` are variables that no layer tracks. A step on JAX takes and gives back what
is in `variables`: there the state would stay as it was, in `fit`, `evaluate` and `predict`. The `weights` of the
layer, which files hold, are other lists and stay without it, as in Keras 2.
"""

from __future__ import annotations

from typing import Any

import keras


def carry_rnn_states() -> None:
    """Installs the hook."""
    plain: Any = keras.layers.RNN.variables

    def variables(self: Any) -> list[Any]:
        found: list[Any] = plain.fget(self)
        states = keras.tree.flatten(self.states) if self.stateful and self.states is not None else []
        return found + [each for each in states if isinstance(each, keras.Variable)]

    keras.layers.RNN.variables = property(variables, doc=plain.__doc__)
