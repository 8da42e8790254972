"""`tf.lookup`: lookup tables."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.lookup import experimental
from unisono.tf.lookup._initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from unisono.tf.lookup._static_tables import StaticHashTable, StaticVocabularyTable

__getattr__ = _explain_missing_names("tf.lookup")
