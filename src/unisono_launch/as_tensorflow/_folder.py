"""The folder that stands first on PYTHONPATH. It holds one file, as all in it can be imported by name."""

from __future__ import annotations

import os
from typing import Final

FOLDER: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "on_path")
