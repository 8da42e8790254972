"""The `format` of functions that make datasets: there is one."""

from __future__ import annotations

OTHER_FORMAT = '{call}: format is {format!r}. Expected "tf", for a dataset of tf.data; leave format out.'


def checked_format(call: str, format: str) -> None:
    """Raises a ValueError for grain's datasets, which Keras can make too."""
    if format != "tf":
        raise ValueError(OTHER_FORMAT.format(call=call, format=format))
