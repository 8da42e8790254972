"""`SaveOptions` and `LoadOptions`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SaveOptions:
    """Accepted, without effect. Weights are always copied to the host and written by this process.

    >>> SaveOptions(experimental_io_device="/job:localhost").experimental_io_device
    '/job:localhost'
    """

    namespace_whitelist: Any = None
    save_debug_info: bool = False
    function_aliases: Any = None
    experimental_debug_stripper: bool = False
    experimental_io_device: str | None = None
    experimental_variable_policy: Any = None
    experimental_custom_gradients: bool = True
    experimental_image_format: bool = False
    experimental_skip_saver: bool = False
    experimental_sharding_callback: Any = None
    extra_tags: Any = None


@dataclass(frozen=True)
class LoadOptions:
    """Accepted, without effect. Files are always read by this process.

    >>> LoadOptions(experimental_io_device="/job:localhost").experimental_io_device
    '/job:localhost'
    """

    allow_partial_checkpoint: bool = False
    experimental_io_device: str | None = None
    experimental_skip_checkpoint: bool = False
    experimental_variable_policy: Any = None
    experimental_load_function_aliases: bool = False
