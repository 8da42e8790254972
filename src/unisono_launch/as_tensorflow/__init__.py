"""`unisono run --as-tensorflow`: `import tensorflow` gives `unisono.tf`, in a worker and in what it starts."""

from unisono_launch.as_tensorflow._folder import FOLDER as FOLDER
from unisono_launch.as_tensorflow._install import install as install
