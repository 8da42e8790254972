"""Hook: a model that Keras's own loop trains has its values again when a step could not be traced.

Checked against Keras 3.15.1: `JAXTrainer._purge_model_variables` takes the arrays out of the variables before a step,
and `jax_state_sync` puts those of the last step back; a failure of the first one leaves them without. Arrays that
were donated to a step that failed while it ran are gone.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from keras.src.backend.jax.trainer import JAXTrainer

_ATTRIBUTE: Final = "_unisono_taken"


def restore_values_on_error() -> None:
    """Installs the hook."""
    original = JAXTrainer._purge_model_variables

    @functools.wraps(original)
    def purge(self: Any, *args: Any, **kwargs: Any) -> None:
        optimizer = getattr(self, "optimizer", None)
        variables = [*self.variables, *self.metrics_variables, *([] if optimizer is None else optimizer.variables)]
        object.__setattr__(self, _ATTRIBUTE, [(each, each._value) for each in variables])
        original(self, *args, **kwargs)

    JAXTrainer._purge_model_variables = purge
    for name in ("fit", "evaluate", "predict"):
        setattr(JAXTrainer, name, _giving_back(getattr(JAXTrainer, name)))


def _giving_back(original: Any) -> Any:
    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except BaseException:
            for variable, value in getattr(self, _ATTRIBUTE, ()):
                if variable._value is None and value is not None and not value.is_deleted():
                    variable._value = value
            raise
        finally:
            object.__setattr__(self, _ATTRIBUTE, ())

    return method
