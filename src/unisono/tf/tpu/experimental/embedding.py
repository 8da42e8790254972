"""`tf.tpu.experimental.embedding`, refused: embeddings are layers of Keras."""

from typing import Final

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf._refused import refused, refused_class

_NAME: Final = "tf.tpu.experimental.embedding"
_SENTENCE: Final = "the embedding hardware of TPUs is not used; write tf.keras.layers.Embedding(vocabulary_size, dim)."

Adagrad = refused_class(f"{_NAME}.Adagrad", _SENTENCE)
Adam = refused_class(f"{_NAME}.Adam", _SENTENCE)
FTRL = refused_class(f"{_NAME}.FTRL", _SENTENCE)
FeatureConfig = refused_class(f"{_NAME}.FeatureConfig", _SENTENCE)
SGD = refused_class(f"{_NAME}.SGD", _SENTENCE)
TPUEmbedding = refused_class(f"{_NAME}.TPUEmbedding", _SENTENCE)
TableConfig = refused_class(f"{_NAME}.TableConfig", _SENTENCE)
serving_embedding_lookup = refused(f"{_NAME}.serving_embedding_lookup", _SENTENCE)

__getattr__ = _missing_in(_NAME)
