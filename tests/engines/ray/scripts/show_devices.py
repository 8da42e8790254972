"""Shows which devices a worker was given. Does not import JAX, which would look for them."""

import os

print("GPUs", os.environ.get("CUDA_VISIBLE_DEVICES"), "platforms", repr(os.environ.get("JAX_PLATFORMS", "")))
