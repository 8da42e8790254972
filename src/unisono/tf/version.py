"""`tf.version`: the version of TensorFlow whose names the namespace has."""

from typing import Final

from unisono.tf._missing import explain_missing_names as _explain_missing_names

VERSION: Final = "2.21.0"
GIT_VERSION: Final = "unisono"
COMPILER_VERSION: Final = "XLA"
GRAPH_DEF_VERSION: Final = 0
GRAPH_DEF_VERSION_MIN_CONSUMER: Final = 0
GRAPH_DEF_VERSION_MIN_PRODUCER: Final = 0

__getattr__ = _explain_missing_names("tf.version")
