"""`tf.io.gfile`: local files and folders."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.io._folders import (
    copy,
    exists,
    get_registered_schemes,
    glob,
    isdir,
    join,
    listdir,
    makedirs,
    mkdir,
    remove,
    rename,
    rmtree,
    stat,
    walk,
)
from unisono.tf.io._gfile import GFile

__getattr__ = _explain_missing_names("tf.io.gfile")
