"""`tf.train`: checkpoints, clusters, and the messages of TFRecord files."""

from unisono.checkpoint import checkpoints_iterator as checkpoints_iterator
from unisono.checkpoint import latest_checkpoint as latest_checkpoint
from unisono.io import BytesList as BytesList
from unisono.io import Example as Example
from unisono.io import Feature as Feature
from unisono.io import FeatureList as FeatureList
from unisono.io import FeatureLists as FeatureLists
from unisono.io import Features as Features
from unisono.io import FloatList as FloatList
from unisono.io import Int64List as Int64List
from unisono.io import SequenceExample as SequenceExample
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
