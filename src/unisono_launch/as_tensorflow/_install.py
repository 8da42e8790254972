"""Puts the finder in its place."""

from __future__ import annotations

import sys

from unisono_launch.as_tensorflow._finder import TensorFlowFinder


def install() -> None:
    """From now on `import tensorflow` means `unisono.tf`. Imports nothing by itself; a second call changes nothing."""
    if not any(isinstance(finder, TensorFlowFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, TensorFlowFinder())  # before all others: a TensorFlow that is installed does not count
