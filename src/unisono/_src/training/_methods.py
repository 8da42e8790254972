"""What models of a strategy do instead of Keras's own methods."""

from __future__ import annotations

from typing import Final

from unisono._src.keras_hooks import TrainerMethods
from unisono._src.training._evaluate import evaluate
from unisono._src.training._fit import fit
from unisono._src.training._on_batch import predict_on_batch, test_on_batch, train_on_batch
from unisono._src.training._predict import predict
from unisono._src.training._programs import forget_programs

MODEL_METHODS: Final = TrainerMethods(
    fit=fit,
    evaluate=evaluate,
    predict=predict,
    train_on_batch=train_on_batch,
    test_on_batch=test_on_batch,
    predict_on_batch=predict_on_batch,
    compiled=forget_programs,
)
