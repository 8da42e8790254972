"""`tf.train`: checkpoints, clusters, and the messages of TFRecord files."""

from unisono._src.data.files import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)
from unisono._src.state.checkpoint import checkpoints_iterator, latest_checkpoint
from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.train import experimental
from unisono.tf.train._checkpoint import Checkpoint
from unisono.tf.train._checkpoint_state import CheckpointOptions, get_checkpoint_state
from unisono.tf.train._cluster import ClusterDef, ClusterSpec, JobDef, ServerDef
from unisono.tf.train._manager import CheckpointManager
from unisono.tf.train._moving_average import ExponentialMovingAverage
from unisono.tf.train._reader import list_variables, load_checkpoint, load_variable
from unisono.tf.train._refused import CheckpointView, Coordinator, TrackableView

__getattr__ = _missing_in("tf.train")
