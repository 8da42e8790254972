"""What tutorials use of TensorFlow Datasets: `import unisono.tfds as tfds`.

```python
import unisono.tfds as tfds

datasets, info = tfds.load("mnist", as_supervised=True, with_info=True)
train, test = datasets["train"], datasets["test"]
info.splits["train"].num_examples   # 60000
```

The datasets are `tf.data.Dataset`. docs/datasets.md says where the files are looked for.
"""

from unisono.tfds._builder import DatasetBuilder
from unisono.tfds._dataframe import as_dataframe
from unisono.tfds._load import (
    DatasetNotFoundError, __getattr__, builder, disable_progress_bar, enable_progress_bar, list_builders, load,
)
from unisono.tfds._numpy import as_numpy
from unisono.tfds._splits import Split

__version__ = "4.9.9"  # of the TensorFlow Datasets whose names these are

__all__ = [
    "DatasetBuilder", "DatasetNotFoundError", "Split", "as_dataframe", "as_numpy", "builder", "disable_progress_bar",
    "enable_progress_bar", "list_builders", "load",
]
