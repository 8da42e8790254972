"""What identifies an attribute of another library: its signature, a hash of its source, or its type."""

from __future__ import annotations

import hashlib
import inspect
from types import CodeType
from typing import Any

_UNKNOWN = "unknown"


def signature_of(original: Any) -> str:
    """The call signature without annotations, as ``(self, x, axis=None)``; "unknown" where Python cannot tell."""
    try:
        signature = inspect.signature(_function_of(original))
    except (TypeError, ValueError):
        return _UNKNOWN
    plain = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def source_hash(original: Any) -> str:
    """12 digits of the SHA-256 of the source; "unknown" where there is no source.

    Blank lines, comment lines and indentation do not count, so that the value is the same on every Python.
    """
    try:
        lines = inspect.getsource(inspect.unwrap(_function_of(original))).splitlines()
    except (OSError, TypeError):
        return _UNKNOWN
    kept = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()[:12]


def matches(original: Any, expected: str) -> bool | None:
    """Whether ``original`` is the expected one; None where this cannot be found out (no source files).

    ``expected`` is a signature, "(self, x)", or "source 0123456789ab", "type property", or "calls backend.nn.moments"
    for a function whose code mentions these names.
    """
    found = _found(original, expected)
    return None if found.endswith(_UNKNOWN) else found == expected


def describe_original(original: Any, expected: str) -> str:
    """What is there instead of ``expected``, in the same form, and the module that defined it."""
    module = getattr(_function_of(original), "__module__", None)
    return _found(original, expected) + (f", defined in {module}" if module else "")


def _found(original: Any, expected: str) -> str:
    if expected.startswith("("):
        return signature_of(original)
    kind, _, rest = expected.partition(" ")
    if kind == "source":
        return f"source {source_hash(original)}"
    if kind == "calls":
        code = getattr(inspect.unwrap(_function_of(original)), "__code__", None)
        called = code is not None and set(rest.split(".")) <= _names_in(code)
        return expected if called else f"code that does not mention {rest}"
    return f"type {type(original).__name__}"


def _names_in(code: CodeType) -> set[str]:
    """All names that a function and the functions inside it use."""
    inner = [_names_in(each) for each in code.co_consts if isinstance(each, CodeType)]
    return {*code.co_names, *code.co_freevars}.union(*inner)


def _function_of(original: Any) -> Any:
    if isinstance(original, property):
        return original.fget
    return getattr(original, "__func__", original)
