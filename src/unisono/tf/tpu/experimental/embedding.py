"""`tf.tpu.experimental.embedding`, refused: embeddings are layers of Keras."""

from typing import Final

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._unsupported import unsupported_class, unsupported_function

_NAME: Final = "tf.tpu.experimental.embedding"
_SENTENCE: Final = "the embedding hardware of TPUs is not used; write tf.keras.layers.Embedding(vocabulary_size, dim)."

Adagrad = unsupported_class(f"{_NAME}.Adagrad", _SENTENCE)
Adam = unsupported_class(f"{_NAME}.Adam", _SENTENCE)
FTRL = unsupported_class(f"{_NAME}.FTRL", _SENTENCE)
FeatureConfig = unsupported_class(f"{_NAME}.FeatureConfig", _SENTENCE)
SGD = unsupported_class(f"{_NAME}.SGD", _SENTENCE)
TPUEmbedding = unsupported_class(f"{_NAME}.TPUEmbedding", _SENTENCE)
TableConfig = unsupported_class(f"{_NAME}.TableConfig", _SENTENCE)
serving_embedding_lookup = unsupported_function(f"{_NAME}.serving_embedding_lookup", _SENTENCE)

__getattr__ = _explain_missing_names(_NAME)
