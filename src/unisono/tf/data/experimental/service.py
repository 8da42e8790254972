"""`tf.data.experimental.service`, which is not supported: there is no data service."""

from typing import Final

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._unsupported import unsupported_function as _unsupported_function

_MODULE: Final = "tf.data.experimental.service"
_ADVICE: Final = (
    "datasets are read by the processes that train; start more of them with `unisono run -n 4 script.py`, or pass "
    "num_parallel_calls=tf.data.AUTOTUNE to map."
)

DispatchServer = _unsupported_function(f"{_MODULE}.DispatchServer", _ADVICE)
DispatcherConfig = _unsupported_function(f"{_MODULE}.DispatcherConfig", _ADVICE)
WorkerServer = _unsupported_function(f"{_MODULE}.WorkerServer", _ADVICE)
WorkerConfig = _unsupported_function(f"{_MODULE}.WorkerConfig", _ADVICE)
distribute = _unsupported_function(f"{_MODULE}.distribute", _ADVICE)
from_dataset_id = _unsupported_function(f"{_MODULE}.from_dataset_id", _ADVICE)
register_dataset = _unsupported_function(f"{_MODULE}.register_dataset", _ADVICE)

__getattr__ = _explain_missing_names(_MODULE)
