"""`tf.distribute.experimental`: older spellings, and what never left it."""

from unisono._src.state.checkpoint import PreemptionCheckpointHandler, TerminationConfig
from unisono._src.strategy import (
    CentralStorageStrategy,
    CommunicationImplementation,
    CommunicationOptions,
    ValueContext,
)
from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.distribute._parameter_servers import ParameterServerStrategy
from unisono.tf.distribute.experimental import coordinator, partitioners, rpc
from unisono.tf.distribute.experimental._old_strategies import CollectiveHints, PreemptionWatcher, TPUStrategy
from unisono.tf.distribute.experimental._old_strategies import (
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)

CollectiveCommunication = CommunicationImplementation

__getattr__ = _missing_in("tf.distribute.experimental")
