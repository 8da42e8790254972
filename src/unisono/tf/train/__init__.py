"""`tf.train`: checkpoints, clusters, and the messages of TFRecord files."""

from unisono._src.data.files import (
    BytesList, Example, Feature, FeatureList, FeatureLists, Features, FloatList, Int64List, SequenceExample,
)
from unisono._src.state.checkpoint import checkpoints_iterator, latest_checkpoint
from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.train import experimental
from unisono.tf.train._checkpoint import (
    Checkpoint, CheckpointManager, CheckpointOptions, CheckpointView, TrackableView, get_checkpoint_state,
)
from unisono.tf.train._cluster import ClusterDef, ClusterSpec, Coordinator, JobDef, ServerDef
from unisono.tf.train._moving_average import ExponentialMovingAverage
from unisono.tf.train._reader import list_variables, load_checkpoint, load_variable

__getattr__ = _explain_missing_names("tf.train")
