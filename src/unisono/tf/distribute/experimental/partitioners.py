"""`tf.distribute.experimental.partitioners`, refused: they split variables over parameter servers."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.distribute._parameter_servers import FixedShardsPartitioner as FixedShardsPartitioner
from unisono.tf.distribute._parameter_servers import MaxSizePartitioner as MaxSizePartitioner
from unisono.tf.distribute._parameter_servers import MinSizePartitioner as MinSizePartitioner
from unisono.tf.distribute._parameter_servers import Partitioner as Partitioner

__getattr__ = _missing_in("tf.distribute.experimental.partitioners")
