"""`evaluate` and `predict` under a Unisono strategy of one device."""

import unisono
from contenders._keras_inference import serve_model

if __name__ == "__main__":
    serve_model(unisono.MirroredStrategy(["cpu:0"]).scope())
