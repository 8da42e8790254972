"""What to type, as a note below errors of Keras and JAX that do not say it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any, Final

from unisono._src import keras_hooks
from unisono._src.tracing.functions import explain_errors

# A part of the message of an error, and what helps. Messages of Keras 3.15 and of JAX 0.10 to 0.12.
_HINTS: Final = (
    (
        r"None is not a valid value for jnp\.array",
        "The data may have no labels. Pass them as y, or let the dataset yield pairs: (features, labels).",
    ),
    (
        r"`target` and `output` must have the same shape\. Received: target\.shape=\([^,]*,\), output\.shape=\([^)]+,",
        'Labels that are class numbers take the loss "sparse_categorical_crossentropy". For this loss, turn them into '
        "rows: keras.utils.to_categorical(y).",
    ),
    (r"Unrecognized data type: x=\[", "Turn lists into arrays: np.array(x)."),
    (
        r"expected min_ndim=4, found ndim=3",
        "Convolutions take images with channels. If the images are gray: x[..., None] adds the dimension.",
    ),
    (
        r"`validation_split` is only supported for",
        "Split the dataset itself: validation_data=dataset.take(n), and fit(dataset.skip(n), …).",
    ),
)

_LOST_BY_KERAS: Final = "'str' object has no attribute '_error_repr'"


@contextlib.contextmanager
def explain_training_errors(model: Any) -> Iterator[None]:
    """Adds notes to errors that leave this block, and turns errors of traced values into a `TracedValueError`."""
    if keras_hooks.get_owner(model) is None:
        yield
        return
    try:
        with explain_errors(type(model).call):
            try:
                yield
            except Exception as error:
                lost = _find_lost_error(error)
                if lost is None:
                    raise
                raise lost from None
    except Exception as error:
        for pattern, hint in _HINTS:
            if re.search(pattern, str(error)):
                error.add_note(hint)
        raise


def _find_lost_error(error: BaseException | None) -> BaseException | None:
    """The error of JAX of which Keras tried to make a longer one of the same class, which JAX's do not allow."""
    while error is not None:
        if isinstance(error, AttributeError) and _LOST_BY_KERAS in str(error):
            return error.__context__
        error = error.__cause__ or error.__context__
    return None
