"""`tf.data.experimental.service`, refused: there is no data service."""

from typing import Final

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf._refused import refused

_NAME: Final = "tf.data.experimental.service"
_SENTENCE: Final = (
    "datasets are read by the processes that train; start more of them with `unisono run -n 4 script.py`, or give "
    "map num_parallel_calls=tf.data.AUTOTUNE."
)

DispatchServer = refused(f"{_NAME}.DispatchServer", _SENTENCE)
DispatcherConfig = refused(f"{_NAME}.DispatcherConfig", _SENTENCE)
WorkerServer = refused(f"{_NAME}.WorkerServer", _SENTENCE)
WorkerConfig = refused(f"{_NAME}.WorkerConfig", _SENTENCE)
distribute = refused(f"{_NAME}.distribute", _SENTENCE)
from_dataset_id = refused(f"{_NAME}.from_dataset_id", _SENTENCE)
register_dataset = refused(f"{_NAME}.register_dataset", _SENTENCE)

__getattr__ = _missing_in(_NAME)
