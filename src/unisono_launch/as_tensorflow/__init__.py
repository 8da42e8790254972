"""`unisono run --as-tensorflow`: `import tensorflow` gives `unisono.tf`, in a worker and in what it starts."""

from unisono_launch.as_tensorflow._finder import FOLDER, install
