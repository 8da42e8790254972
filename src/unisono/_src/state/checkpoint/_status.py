"""The result of a restore: what was matched, and what was not."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Self, final

from unisono._src.core import warn_user
from unisono._src.processes import processes

UNUSED = "{where} has values that belong to no object: {names}."
MISSING = "{where} has no value for: {names}."
REMEDY = """
If that is intended, write checkpoint.restore(path).expect_partial(), or restore(path, strict=False)."""

NOTHING = """No checkpoint was given (the path is None), so nothing was restored."""

_MAX_NAMES = 20


def abbreviate_names(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


class LoadStatus(abc.ABC):
    """The result of `Checkpoint.restore`, with TensorFlow's methods for stricter checks."""

    @abc.abstractmethod
    def expect_partial(self) -> Self:
        """Accepts values without an object and objects without a value: no warning."""

    @abc.abstractmethod
    def expect_all(self) -> Self:
        """Warns, when this status is dropped, of values without an object and of objects without a value."""

    @abc.abstractmethod
    def assert_consumed(self) -> Self:
        """Raises AssertionError unless every value has an object and every object a value."""

    @abc.abstractmethod
    def assert_existing_objects_matched(self) -> Self:
        """Raises AssertionError unless every object has a value."""

    @abc.abstractmethod
    def assert_nontrivial_match(self) -> Self:
        """Raises AssertionError if nothing was restored at all."""

    def initialize_or_restore(self, session: Any = None) -> None:
        """Does nothing: values are restored when `restore` returns, and Keras's variables always have one."""
        del session


@final
class Restored(LoadStatus):
    """Values were restored.

    Attributes:
        matched: the names of values that were restored.
        missing: variables and other objects that had no value.
        unused: values that had no object.
    """

    def __init__(self, where: str, matched: list[str], missing: list[str], unused: list[str], *, warn: bool) -> None:
        self._where, self._warn = where, warn
        self.matched, self.missing, self.unused = matched, missing, unused

    def expect_partial(self) -> Self:
        self._warn = False
        return self

    def expect_all(self) -> Self:
        self._warn = processes().is_chief
        return self

    def assert_consumed(self) -> Self:
        self.assert_existing_objects_matched()
        if self.unused:
            self._warn = False  # the error says it
            raise AssertionError(UNUSED.format(where=self._where, names=abbreviate_names(self.unused)))
        return self

    def assert_existing_objects_matched(self) -> Self:
        if self.missing:
            self._warn = False
            raise AssertionError(MISSING.format(where=self._where, names=abbreviate_names(self.missing)))
        self._warn = False  # values without an object are accepted by this assertion
        return self

    def assert_nontrivial_match(self) -> Self:
        if not self.matched:
            held = abbreviate_names(self.unused) or "nothing"
            raise AssertionError(f"No value was restored. {self._where} holds {held}.")
        return self

    def __del__(self) -> None:
        if not getattr(self, "_warn", False):
            return
        differences = ((MISSING, self.missing), (UNUSED, self.unused))
        messages = [
            text.format(where=self._where, names=abbreviate_names(names)) for text, names in differences if names
        ]
        if messages:
            warn_user("\n".join(messages) + REMEDY)

    def __repr__(self) -> str:
        counts = f"{len(self.matched)} matched, {len(self.missing)} missing, {len(self.unused)} unused"
        return f"<Restored from {self._where}: {counts}>"


@final
class NothingRestored(LoadStatus):
    """There was no checkpoint: `restore(latest_checkpoint(directory))` at the first start of a job."""

    def expect_partial(self) -> Self:
        return self

    def expect_all(self) -> Self:
        return self

    def assert_consumed(self) -> Self:
        raise AssertionError(NOTHING)

    def assert_existing_objects_matched(self) -> Self:
        raise AssertionError(NOTHING)

    def assert_nontrivial_match(self) -> Self:
        raise AssertionError(NOTHING)

    def __repr__(self) -> str:
        return "<NothingRestored>"
