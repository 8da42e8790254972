"""`tf.sparse`: only `to_dense`. There are no sparse tensors; parsed features are dense."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.sparse._to_dense import to_dense

__getattr__ = _explain_missing_names("tf.sparse")
