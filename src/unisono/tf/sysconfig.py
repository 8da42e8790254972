"""`tf.sysconfig`: there is no C++ library to compile against."""

from __future__ import annotations

from typing import Any

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._unsupported import unsupported_function
from unisono.tf.test import is_built_with_cuda, is_built_with_rocm

_NO_LIBRARY = "there is no C++ library of TensorFlow here; write custom operations with jax.ffi or Pallas."


def get_build_info() -> dict[str, Any]:
    """The hardware that the installed JAX supports."""
    return {
        "is_cuda_build": is_built_with_cuda(),
        "is_rocm_build": is_built_with_rocm(),
        "is_tensorrt_build": False,
    }


get_include = unsupported_function("tf.sysconfig.get_include", _NO_LIBRARY)
get_lib = unsupported_function("tf.sysconfig.get_lib", _NO_LIBRARY)
get_compile_flags = unsupported_function("tf.sysconfig.get_compile_flags", _NO_LIBRARY)
get_link_flags = unsupported_function("tf.sysconfig.get_link_flags", _NO_LIBRARY)

__getattr__ = _explain_missing_names("tf.sysconfig")
