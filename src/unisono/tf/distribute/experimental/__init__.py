"""`tf.distribute.experimental`: older names of `tf.distribute`, and names that exist only here."""

from unisono._src.parameter_servers import ParameterServerStrategy
from unisono._src.state.checkpoint import PreemptionCheckpointHandler, TerminationConfig
from unisono._src.strategy import (
    CentralStorageStrategy, CommunicationImplementation, CommunicationOptions, ValueContext,
)
from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.distribute.experimental import coordinator, partitioners, rpc
from unisono.tf.distribute.experimental._old_strategies import (
    CollectiveHints, MultiWorkerMirroredStrategy, PreemptionWatcher, TPUStrategy,
)

CollectiveCommunication = CommunicationImplementation

__getattr__ = _explain_missing_names("tf.distribute.experimental")
