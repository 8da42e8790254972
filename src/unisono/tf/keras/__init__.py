"""`tf.keras`: Keras 3, with what scripts for Keras 2 expect of it.

Classes and functions are Keras's own, so that `keras.X` and `tf.keras.X` mix freely. What Keras 2's objects had and
Keras 3's have not, such as `optimizer.lr` and `model.save("folder")`, is put onto Keras's classes.

```python
import unisono.tf as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(10, input_shape=(784,))])
model.compile(tf.keras.optimizers.Adam(lr=0.01), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
```
"""

from unisono.tf.keras import _install as _install  # isort: skip  (Keras's classes get the old names)

import keras as _keras
from keras import Input as Input
from keras import Model as Model
from keras import Sequential as Sequential
from keras import __version__ as __version__

from unisono.tf.keras import _modules
from unisono.tf.keras import backend as backend
from unisono.tf.keras import callbacks as callbacks
from unisono.tf.keras import experimental as experimental
from unisono.tf.keras import layers as layers
from unisono.tf.keras import losses as losses
from unisono.tf.keras import metrics as metrics
from unisono.tf.keras import mixed_precision as mixed_precision
from unisono.tf.keras import models as models
from unisono.tf.keras import optimizers as optimizers
from unisono.tf.keras import preprocessing as preprocessing
from unisono.tf.keras import utils as utils
from unisono.tf.keras import wrappers as wrappers
from unisono.tf.keras._like import like as _like

_modules.share_modules()
__getattr__ = _like(globals(), "tf.keras", _keras)
