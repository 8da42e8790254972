"""`tensorflow.core`: private in TensorFlow; scripts import messages from it that have a public name."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._private_modules import add_private_modules as _add_private_modules

_add_private_modules(
    __name__,
    {
        "example.example_pb2": "tf.train",
        "example.feature_pb2": "tf.train",
        "framework.summary_pb2": "tf.compat.v1",
        "framework.tensor_pb2": "tf.compat.v1",
        "framework.tensor_shape_pb2": "tf.compat.v1",
        "protobuf.cluster_pb2": "tf.train",
        "protobuf.config_pb2": "tf.compat.v1",
        "protobuf.rewriter_config_pb2": "tf.compat.v1",
        "protobuf.tensorflow_server_pb2": "tf.train",
        "util.event_pb2": "tf.compat.v1",
    },
)

__getattr__ = _explain_missing_names("tf.core")
