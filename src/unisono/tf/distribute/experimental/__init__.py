"""`tf.distribute.experimental`: older spellings, and what never left it."""

from unisono._src.state.checkpoint import PreemptionCheckpointHandler as PreemptionCheckpointHandler
from unisono._src.state.checkpoint import TerminationConfig as TerminationConfig
from unisono._src.strategy import CentralStorageStrategy as CentralStorageStrategy
from unisono._src.strategy import CommunicationImplementation as CommunicationImplementation
from unisono._src.strategy import CommunicationOptions as CommunicationOptions
from unisono._src.strategy import ValueContext as ValueContext
from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.distribute._parameter_servers import ParameterServerStrategy as ParameterServerStrategy
from unisono.tf.distribute.experimental import coordinator as coordinator
from unisono.tf.distribute.experimental import partitioners as partitioners
from unisono.tf.distribute.experimental import rpc as rpc
from unisono.tf.distribute.experimental._old_strategies import CollectiveHints as CollectiveHints
from unisono.tf.distribute.experimental._old_strategies import (
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from unisono.tf.distribute.experimental._old_strategies import PreemptionWatcher as PreemptionWatcher
from unisono.tf.distribute.experimental._old_strategies import TPUStrategy as TPUStrategy

CollectiveCommunication = CommunicationImplementation

__getattr__ = _missing_in("tf.distribute.experimental")
