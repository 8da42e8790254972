"""`tf.compat.v1.saved_model.tag_constants`: names of parts of SavedModels."""

from typing import Final

GPU: Final = "gpu"
SERVING: Final = "serve"
TPU: Final = "tpu"
TRAINING: Final = "train"
