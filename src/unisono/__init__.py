"""Unisono trains Keras 3 models on every device you have, in lockstep.

```python
import unisono  # before keras, whose backend it chooses
import keras

strategy = unisono.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(10)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=256)
```
"""

from unisono import _prepare as _prepare  # isort: skip  (chooses Keras's backend; everything below imports Keras)

from unisono import _install as _install
from unisono import callbacks as callbacks
from unisono import checkpoint as checkpoint
from unisono import cluster_resolver as cluster_resolver
from unisono import config as config
from unisono import data as data
from unisono import datasets as datasets
from unisono import nn as nn
from unisono import tpu as tpu
from unisono import train as train
from unisono.autodiff import GradientTape as GradientTape
from unisono.autodiff import UnconnectedGradients as UnconnectedGradients
from unisono.functions import TracedValueError as TracedValueError
from unisono.functions import function as function
from unisono.functions import functions_run_eagerly as functions_run_eagerly
from unisono.functions import run_functions_eagerly as run_functions_eagerly
from unisono.strategy import CentralStorageStrategy as CentralStorageStrategy
from unisono.strategy import CommunicationImplementation as CommunicationImplementation
from unisono.strategy import CommunicationOptions as CommunicationOptions
from unisono.strategy import DistributedDataset as DistributedDataset
from unisono.strategy import DistributedIterator as DistributedIterator
from unisono.strategy import DistributedValues as DistributedValues
from unisono.strategy import InputContext as InputContext
from unisono.strategy import InputOptions as InputOptions
from unisono.strategy import InputReplicationMode as InputReplicationMode
from unisono.strategy import MirroredStrategy as MirroredStrategy
from unisono.strategy import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from unisono.strategy import OneDeviceStrategy as OneDeviceStrategy
from unisono.strategy import ReduceOp as ReduceOp
from unisono.strategy import ReplicaContext as ReplicaContext
from unisono.strategy import RunOptions as RunOptions
from unisono.strategy import Strategy as Strategy
from unisono.strategy import StrategyExtended as StrategyExtended
from unisono.strategy import TPUStrategy as TPUStrategy
from unisono.strategy import experimental_set_strategy as experimental_set_strategy
from unisono.strategy import get_replica_context as get_replica_context
from unisono.strategy import get_strategy as get_strategy
from unisono.strategy import has_strategy as has_strategy
from unisono.strategy import in_cross_replica_context as in_cross_replica_context

__version__ = "0.1.0"
