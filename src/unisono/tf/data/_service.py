"""`tf.data.experimental.service`, refused: there is no data service."""

from typing import Final

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._unsupported import unsupported_function

_NAME: Final = "tf.data.experimental.service"
_SENTENCE: Final = (
    "datasets are read by the processes that train; start more of them with `unisono run -n 4 script.py`, or give "
    "map num_parallel_calls=tf.data.AUTOTUNE."
)

DispatchServer = unsupported_function(f"{_NAME}.DispatchServer", _SENTENCE)
DispatcherConfig = unsupported_function(f"{_NAME}.DispatcherConfig", _SENTENCE)
WorkerServer = unsupported_function(f"{_NAME}.WorkerServer", _SENTENCE)
WorkerConfig = unsupported_function(f"{_NAME}.WorkerConfig", _SENTENCE)
distribute = unsupported_function(f"{_NAME}.distribute", _SENTENCE)
from_dataset_id = unsupported_function(f"{_NAME}.from_dataset_id", _SENTENCE)
register_dataset = unsupported_function(f"{_NAME}.register_dataset", _SENTENCE)

__getattr__ = _explain_missing_names(_NAME)
