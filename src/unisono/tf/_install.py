"""What happens when the namespace is imported. Runs once, when this module is imported."""

from unisono._src.data.dataset import Dataset
from unisono._src.datasets import prefer_local_datasets
from unisono._src.keras_hooks import hide_tensorflow
from unisono.tf._manners import give_manners
from unisono.tf._variable_parts import give_parts

give_manners()
give_parts()
hide_tensorflow(Dataset)
prefer_local_datasets()
