"""Stock `evaluate` and `predict`, no Unisono in the process. KERAS_BACKEND says which contender this is."""

import contextlib

from contenders._keras_inference import serve_model

if __name__ == "__main__":
    serve_model(contextlib.nullcontext())
