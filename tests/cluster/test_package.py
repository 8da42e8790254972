from __future__ import annotations

import subprocess
import sys

import pytest

import unisono.cluster_resolver

# tf.distribute.cluster_resolver of TensorFlow 2.21
TENSORFLOWS = [
    "ClusterResolver",
    "GCEClusterResolver",
    "KubernetesClusterResolver",
    "KubernetesExecutableLocation",
    "SimpleClusterResolver",
    "SlurmClusterResolver",
    "TFConfigClusterResolver",
    "TPUClusterResolver",
    "UnionResolver",
]


@pytest.mark.parametrize("name", TENSORFLOWS)
def test_every_resolver_of_tensorflow_has_its_name_here(name: str) -> None:
    assert hasattr(unisono.cluster_resolver, name)


def test_finding_a_cluster_needs_the_standard_library_alone() -> None:
    code = (
        "import sys; from unisono_launch.cluster import detect; detect({'CUDA_VISIBLE_DEVICES': ''});"
        "print([name for name in ('jax', 'jaxlib', 'keras', 'numpy', 'unisono') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
