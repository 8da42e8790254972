"""Writes manifests as YAML.

JSON is YAML too, and needs no code; but people read, edit and commit manifests, and a manifest in JSON takes twice the
lines. A library for YAML would be a dependency of the core. So this file writes the part of YAML that manifests need,
block mappings and block lists, and quotes a string wherever YAML 1.1 or 1.2 could read it as something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

_PLAIN: Final = re.compile(r"(?:-{0,2}[A-Za-z]|/)(?:[A-Za-z0-9_./-]|:(?=[A-Za-z0-9/]))*")

# Words that YAML 1.1 (PyYAML) or 1.2 (Go's reader in kubectl) takes for booleans or null.
_RESERVED: Final = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}

# JSON leaves these in a string as they are; YAML does not allow them there, or breaks the line.
_NOT_PRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def dump(documents: Sequence[Mapping[str, Any]]) -> str:
    """The documents as one YAML text.

    >>> print(dump([{"kind": "Job", "spec": {"command": ["run", "1"], "limits": {}}}]), end="")
    kind: Job
    spec:
      command:
        - run
        - "1"
      limits: {}
    """
    return "---\n".join("".join(f"{line}\n" for line in _mapping(document)) for document in documents)


def _mapping(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, (Mapping, list)) and value:
            yield f"{_scalar(key)}:"
            yield from (f"  {line}" for line in _block(value))
        else:
            yield f"{_scalar(key)}: {_scalar(value)}"


def _block(value: Mapping[str, Any] | list[Any]) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _mapping(value)
        return
    for item in value:
        lines = _block(item) if isinstance(item, (Mapping, list)) and item else iter([_scalar(item)])
        yield f"- {next(lines)}"
        yield from (f"  {line}" for line in lines)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
            return value
        quoted = json.dumps(value, ensure_ascii=False)
        return _NOT_PRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
    if isinstance(value, (bool, int)) or value in ({}, []):
        return json.dumps(value)
    raise TypeError(
        f"{value!r} is not a value of a manifest: a string, a whole number, a boolean, a list or a mapping."
    )
