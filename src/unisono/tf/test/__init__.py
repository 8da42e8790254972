"""`tf.test`: what tests ask of the machine, and a test case that compares arrays."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.test._machine import gpu_device_name as gpu_device_name
from unisono.tf.test._machine import is_built_with_cuda as is_built_with_cuda
from unisono.tf.test._machine import is_built_with_gpu_support as is_built_with_gpu_support
from unisono.tf.test._machine import is_built_with_rocm as is_built_with_rocm
from unisono.tf.test._machine import is_built_with_xla as is_built_with_xla
from unisono.tf.test._machine import is_cpu_target_available as is_cpu_target_available
from unisono.tf.test._machine import is_gpu_available as is_gpu_available
from unisono.tf.test._test_case import TestCase as TestCase
from unisono.tf.test._test_case import main as main

__getattr__ = _missing_in("tf.test")
