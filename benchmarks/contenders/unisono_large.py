"""`model.fit` of a large model under a Unisono strategy."""

import unisono
from contenders._keras_large import serve_fit

if __name__ == "__main__":
    serve_fit(unisono.MirroredStrategy(["gpu:0"]).scope())
