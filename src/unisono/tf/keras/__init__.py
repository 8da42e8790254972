"""`tf.keras`: Keras 3, with the names and arguments of Keras 2.

Classes and functions are Keras's own, so that `keras.X` and `tf.keras.X` mix freely. Members that Keras 3 removed, such
as `optimizer.lr` and `model.save("folder")`, are added to Keras's classes.

```python
import unisono.tf as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(10, input_shape=(784,))])
model.compile(tf.keras.optimizers.Adam(lr=0.01), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
```
"""

# ruff: noqa: E402  (the hooks are installed before the modules below use Keras and JAX)
from unisono.tf.keras._install import install_hooks as _install_hooks  # isort: skip

_install_hooks()  # Keras's classes get the names of Keras 2 before the modules below use them

import keras as _keras
from keras import Input, Model, Sequential, __version__

from unisono.tf.keras import (
    _modules, backend, callbacks, experimental, layers, losses, metrics, mixed_precision, models, optimizers,
    preprocessing, utils, wrappers,
)
from unisono.tf.keras._keras_fallback import keras_fallback as _keras_fallback

_modules.share_modules()
__getattr__ = _keras_fallback(globals(), "tf.keras", _keras)
