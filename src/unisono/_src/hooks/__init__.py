"""The registry of hooks: every attribute of Keras, JAX and Python that Unisono replaces, adds or relies on."""

from unisono._src.hooks._originals import describe_original, signature_of, source_hash
from unisono._src.hooks._registry import (
    HookMismatchError, RegisteredHook, add, check_primitives, collect_mismatches, patch, registered_hooks, require,
    require_primitives, wrap,
)
