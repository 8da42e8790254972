"""`tf.strings`: functions of strings, which run on the host. Strings are bytes, as in TensorFlow."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.strings._case_regex_hash import (
    length, lower, regex_full_match, regex_replace, strip, to_hash_bucket_fast, upper,
)
from unisono.tf.strings._ngrams import ngrams
from unisono.tf.strings._number_conversion import as_string, format, to_number
from unisono.tf.strings._split_join import (
    bytes_split, join, reduce_join, split, substr, unicode_decode, unicode_encode, unicode_split,
)
from unisono.tf.strings._unicode import (
    unicode_decode_with_offsets, unicode_split_with_offsets, unicode_transcode,
)

__getattr__ = _explain_missing_names("tf.strings")
