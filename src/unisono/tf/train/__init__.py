"""`tf.train`: checkpoints, clusters, and the messages of TFRecord files."""

from unisono._src.data.files import BytesList as BytesList
from unisono._src.data.files import Example as Example
from unisono._src.data.files import Feature as Feature
from unisono._src.data.files import FeatureList as FeatureList
from unisono._src.data.files import FeatureLists as FeatureLists
from unisono._src.data.files import Features as Features
from unisono._src.data.files import FloatList as FloatList
from unisono._src.data.files import Int64List as Int64List
from unisono._src.data.files import SequenceExample as SequenceExample
from unisono._src.state.checkpoint import checkpoints_iterator as checkpoints_iterator
from unisono._src.state.checkpoint import latest_checkpoint as latest_checkpoint
from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.train import experimental as experimental
from unisono.tf.train._checkpoint import Checkpoint as Checkpoint
from unisono.tf.train._checkpoint_state import CheckpointOptions as CheckpointOptions
from unisono.tf.train._checkpoint_state import get_checkpoint_state as get_checkpoint_state
from unisono.tf.train._cluster import ClusterDef as ClusterDef
from unisono.tf.train._cluster import ClusterSpec as ClusterSpec
from unisono.tf.train._cluster import JobDef as JobDef
from unisono.tf.train._cluster import ServerDef as ServerDef
from unisono.tf.train._manager import CheckpointManager as CheckpointManager
from unisono.tf.train._moving_average import ExponentialMovingAverage as ExponentialMovingAverage
from unisono.tf.train._reader import list_variables as list_variables
from unisono.tf.train._reader import load_checkpoint as load_checkpoint
from unisono.tf.train._reader import load_variable as load_variable
from unisono.tf.train._refused import CheckpointView as CheckpointView
from unisono.tf.train._refused import Coordinator as Coordinator
from unisono.tf.train._refused import TrackableView as TrackableView

__getattr__ = _missing_in("tf.train")
