"""The verdict on a name that a script uses: supported, different (with the difference), or missing."""

from __future__ import annotations

import difflib
import functools
import sys
from typing import Literal, NamedTuple

from unisono._src.tf_check._name_resolution import has_identity, keyword_parameters, refusal_reason, resolve
from unisono._src.tf_check._script_reader import NameUse
from unisono.tf._differences import DIFFERENCES
from unisono.tf._missing import PAGE, MissingNameError, describe_missing_name
from unisono.tf._missing_names import MISSING_PACKAGES, NEED_OTHER_PACKAGES

Status = Literal["supported", "differs", "missing"]


class NameVerdict(NamedTuple):
    """The verdict on a name."""

    name: str
    status: Status
    text: str = ""

    @property
    def advice(self) -> str:
        """The text for a table that has the name beside it."""
        return self.text.removeprefix(f"{self.name} is not available: ").removesuffix(f" {PAGE}")


def assess_name(name: str) -> NameVerdict:
    """The verdict on a dotted name.

    >>> assess_name("tf.constant")
    NameVerdict(name='tf.constant', status='supported', text='')
    >>> assess_name("tf.Session").status
    'missing'
    """
    if name in MISSING_PACKAGES:
        return NameVerdict(name, "missing", describe_missing_name(name))
    try:
        found = resolve(name)
    except MissingNameError as error:
        return NameVerdict(name, "missing", str(error))
    name_in_tf = f"tf.{name}" if name.startswith("keras.") else name
    refused = refusal_reason(found) or NEED_OTHER_PACKAGES.get(name_in_tf)
    if refused is not None:
        return NameVerdict(name, "missing", refused)
    difference = DIFFERENCES.get(name) or _differences_by_id(len(sys.modules)).get(id(found))
    return NameVerdict(name, "differs", difference) if difference else NameVerdict(name, "supported")


def assess_use(use: NameUse) -> list[NameVerdict]:
    """The verdict on a name that a script uses, then on each keyword argument that it does not take."""
    first = assess_name(use.name)
    if first.status == "missing":
        # An object of the script's class may have members that only the script defines.
        return [first] if use.certain or _is_refused(use.name) else []
    return [first, *_unknown_keywords(use)]


def _unknown_keywords(use: NameUse) -> list[NameVerdict]:
    # A class of the script may define `compile` with other arguments.
    known = keyword_parameters(resolve(use.name)) if use.keywords and use.certain else None
    if known is None:
        return []
    unknown = [keyword for keyword in use.keywords if keyword not in known]
    return [
        NameVerdict(f"{use.name}({keyword}=)", "missing", _explain_unknown_argument(keyword, known))
        for keyword in unknown
    ]


def _explain_unknown_argument(keyword: str, known: list[str]) -> str:
    taken = ", ".join(f"{name}=" for name in known if name != "self") or "none"
    near = difflib.get_close_matches(keyword, known, n=1)
    return f"There is no argument {keyword}=.{f' The nearest is {near[0]}=.' if near else ''} It takes: {taken}."


def _is_refused(name: str) -> bool:
    try:
        return refusal_reason(resolve(name)) is not None
    except MissingNameError:
        return False


@functools.cache
def _differences_by_id(modules: int) -> dict[int, str]:
    """The differences by the object's id: `tf.dtypes.int64` is `tf.int64`, `MirroredStrategy.run` is `Strategy.run`."""
    found: dict[int, str] = {}
    for name, difference in DIFFERENCES.items():
        try:
            value = resolve(name)
        except MissingNameError:
            continue
        if has_identity(value):
            found[id(value)] = difference
    return found
