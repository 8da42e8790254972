"""What models of a strategy do instead of Keras's own methods."""

from __future__ import annotations

from typing import Final

from unisono.seams import Methods
from unisono.train._evaluate import evaluate
from unisono.train._fit import fit
from unisono.train._on_batch import predict_on_batch, test_on_batch, train_on_batch
from unisono.train._predict import predict
from unisono.train._programs import forget_programs

METHODS: Final = Methods(
    fit=fit,
    evaluate=evaluate,
    predict=predict,
    train_on_batch=train_on_batch,
    test_on_batch=test_on_batch,
    predict_on_batch=predict_on_batch,
    compiled=forget_programs,
)
