"""The registry of hooks: every attribute of Keras and JAX that Unisono replaces, adds or relies on goes through it."""

from unisono._src.hooks._originals import describe_original, signature_of, source_hash
from unisono._src.hooks._registry import (
    HookMismatchError, RegisteredHook, add, collect_mismatches, patch, registered_hooks, require, wrap,
)
