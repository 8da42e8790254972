"""`tf.experimental.Optional`: a value, or the knowledge that there is none."""

from __future__ import annotations

from typing import Any

from unisono import data
from unisono.tf.data._tensors import as_data, presented


class _OptionalKinds(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, data.Optional)


class Optional(data.Optional, metaclass=_OptionalKinds):
    """What `get_next_as_optional()` gives.

    >>> bool(Optional.from_value(3).has_value()), bool(Optional.empty(None).has_value())
    (True, False)
    """

    @staticmethod
    def from_value(value: Any) -> data.Optional:
        """One with this value."""
        return data.Optional([presented(as_data(value, "from_value"))])

    @staticmethod
    def empty(element_spec: Any) -> data.Optional:
        """One without a value."""
        del element_spec
        return data.Optional([])
