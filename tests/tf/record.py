"""Records the results of TensorFlow for the programs of test_recorded_*.py. In the root of the repository, with a
Python that has TensorFlow:

    python -m tests.tf.record

Needs neither Unisono nor JAX: `unisono.tf` is replaced by TensorFlow.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow

from tests.tf.recording import FILE, recording_key, to_json


def main() -> None:
    substitute = types.ModuleType("unisono")
    substitute.tf = tensorflow
    sys.modules |= {"unisono": substitute, "unisono.tf": tensorflow}
    results = {}
    for path in sorted(Path(__file__).parent.glob("test_recorded_*.py")):
        module = importlib.import_module(f"tests.tf.{path.stem}")
        for test in vars(module).values():
            if getattr(test, "is_recorded", False):
                results[recording_key(test.__wrapped__)] = to_json(test.__wrapped__())
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(results.items()))
    FILE.write_text(f"{{\n{lines}\n}}\n")
    print(f"{len(results)} programs, TensorFlow {tensorflow.__version__}")


if __name__ == "__main__":
    main()
