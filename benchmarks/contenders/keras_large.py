"""Stock `model.fit` of a large model on JAX, no Unisono in the process."""

import contextlib

from contenders._keras_large import serve_fit

if __name__ == "__main__":
    serve_fit(contextlib.nullcontext())
