"""`tf.sparse`: what makes dense arrays of the features of records, which are dense here."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.sparse._to_dense import to_dense

__getattr__ = _missing_in("tf.sparse")
