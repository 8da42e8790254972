"""`tf.lookup`: tables of values by keys."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.lookup import experimental
from unisono.tf.lookup._initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from unisono.tf.lookup._static_tables import StaticHashTable, StaticVocabularyTable

__getattr__ = _missing_in("tf.lookup")
