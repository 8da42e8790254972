"""`tf.test`: a test case that compares arrays, and what JAX is built for."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.test import experimental
from unisono.tf.test._benchmark import Benchmark, benchmark_config
from unisono.tf.test._build_info import (
    gpu_device_name, is_built_with_cuda, is_built_with_gpu_support, is_built_with_rocm, is_built_with_xla,
    is_cpu_target_available, is_gpu_available,
)
from unisono.tf.test._test_case import TestCase, main

__getattr__ = _explain_missing_names("tf.test")
