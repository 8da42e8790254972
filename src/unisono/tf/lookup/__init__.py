"""`tf.lookup`: tables of values by keys."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.lookup import experimental as experimental
from unisono.tf.lookup._initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from unisono.tf.lookup._initializers import TextFileIndex as TextFileIndex
from unisono.tf.lookup._initializers import TextFileInitializer as TextFileInitializer
from unisono.tf.lookup._static import StaticHashTable as StaticHashTable
from unisono.tf.lookup._static import StaticVocabularyTable as StaticVocabularyTable

__getattr__ = _missing_in("tf.lookup")
