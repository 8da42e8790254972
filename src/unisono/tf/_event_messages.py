"""The messages of event files. They are tensorboardX's: its classes have all that protobuf's have."""

from __future__ import annotations

import importlib
from typing import Any, Final

_MODULES: Final = {"Event": "event", "Summary": "summary", "SummaryMetadata": "summary", "TensorProto": "tensor"}


def message_class(name: str) -> Any:
    """The class of that name. Imported when it is asked for: tensorboardX imports boto3 and others where there are."""
    return getattr(importlib.import_module(f"tensorboardX.proto.{_MODULES[name]}_pb2"), name)
