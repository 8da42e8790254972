"""`tf.tpu.experimental.embedding`: not supported; use Keras's Embedding layer."""

from typing import Final

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._unsupported import unsupported_class as _unsupported_class
from unisono.tf._unsupported import unsupported_function as _unsupported_function

_NAME: Final = "tf.tpu.experimental.embedding"
_SENTENCE: Final = "the embedding hardware of TPUs is not used. Write tf.keras.layers.Embedding(vocabulary_size, dim)."

Adagrad = _unsupported_class(f"{_NAME}.Adagrad", _SENTENCE)
Adam = _unsupported_class(f"{_NAME}.Adam", _SENTENCE)
FTRL = _unsupported_class(f"{_NAME}.FTRL", _SENTENCE)
FeatureConfig = _unsupported_class(f"{_NAME}.FeatureConfig", _SENTENCE)
SGD = _unsupported_class(f"{_NAME}.SGD", _SENTENCE)
TPUEmbedding = _unsupported_class(f"{_NAME}.TPUEmbedding", _SENTENCE)
TableConfig = _unsupported_class(f"{_NAME}.TableConfig", _SENTENCE)
serving_embedding_lookup = _unsupported_function(f"{_NAME}.serving_embedding_lookup", _SENTENCE)

__getattr__ = _explain_missing_names(_NAME)
