"""What `tf.train` has for threads of TensorFlow 1 and for its own objects."""

from unisono.tf._unsupported import unsupported_class

Coordinator = unsupported_class(
    "tf.train.Coordinator", "there are no queues whose threads would have to be ended; use Python's threading.Event."
)
CheckpointView = unsupported_class(
    "tf.train.CheckpointView", "a checkpoint holds arrays by name; use tf.train.load_checkpoint(path)."
)
TrackableView = unsupported_class(
    "tf.train.TrackableView", "objects are not tracked in a graph; use tf.train.Checkpoint(name=object)."
)
