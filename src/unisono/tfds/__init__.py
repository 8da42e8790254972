"""What tutorials use of TensorFlow Datasets: `import unisono.tfds as tfds`.

```python
import unisono.tfds as tfds

datasets, info = tfds.load("mnist", as_supervised=True, with_info=True)
train, test = datasets["train"], datasets["test"]
info.splits["train"].num_examples   # 60000
```

The datasets are `tf.data.Dataset`. docs/datasets.md says where the files are looked for.
"""

from unisono.tfds._builder import DatasetBuilder as DatasetBuilder
from unisono.tfds._load import DatasetNotFoundError as DatasetNotFoundError
from unisono.tfds._load import builder as builder
from unisono.tfds._load import list_builders as list_builders
from unisono.tfds._load import load as load
from unisono.tfds._missing import __getattr__ as __getattr__
from unisono.tfds._numpy import as_numpy as as_numpy
from unisono.tfds._progress import disable_progress_bar as disable_progress_bar
from unisono.tfds._progress import enable_progress_bar as enable_progress_bar
from unisono.tfds._splits import Split as Split

__version__ = "4.9.9"  # whose names these are
