"""`tensorflow.python`: private in TensorFlow; scripts import from it what has a public name.

```python
from tensorflow.python.client import device_lib
from tensorflow.python.keras.layers import Dense
```
"""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._private_modules import add_private_modules as _add_private_modules
from unisono.tf.python._keras_table import KERAS_MODULES as _KERAS_MODULES
from unisono.tf.python._table import MODULES as _MODULES

_add_private_modules(__name__, _MODULES | _KERAS_MODULES)

__getattr__ = _explain_missing_names("tf.python")
