"""The learning rate and the batch size for more devices."""

from unisono._src.tuning._find_batch_size import find_batch_size
from unisono._src.tuning._find_learning_rate import find_learning_rate
from unisono._src.tuning._scaled_learning_rate import scale_learning_rate
