"""`tf.strings`: text, on the host. Text is bytes, as in TensorFlow; results are tensors of the host."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.strings._letters import length as length
from unisono.tf.strings._letters import lower as lower
from unisono.tf.strings._letters import regex_full_match as regex_full_match
from unisono.tf.strings._letters import regex_replace as regex_replace
from unisono.tf.strings._letters import strip as strip
from unisono.tf.strings._letters import to_hash_bucket_fast as to_hash_bucket_fast
from unisono.tf.strings._letters import upper as upper
from unisono.tf.strings._numbers import as_string as as_string
from unisono.tf.strings._numbers import format as format
from unisono.tf.strings._numbers import to_number as to_number
from unisono.tf.strings._parts import bytes_split as bytes_split
from unisono.tf.strings._parts import join as join
from unisono.tf.strings._parts import reduce_join as reduce_join
from unisono.tf.strings._parts import split as split
from unisono.tf.strings._parts import substr as substr
from unisono.tf.strings._parts import unicode_decode as unicode_decode
from unisono.tf.strings._parts import unicode_encode as unicode_encode
from unisono.tf.strings._parts import unicode_split as unicode_split

__getattr__ = _missing_in("tf.strings")
