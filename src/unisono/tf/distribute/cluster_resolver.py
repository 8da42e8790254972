"""`tf.distribute.cluster_resolver`: the resolvers that find the workers of a cluster."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono._src.strategy._tpu_cluster_resolver import TPUClusterResolver
from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono_launch.cluster import (
    ClusterResolver,
    GCEClusterResolver,
    KubernetesClusterResolver,
    KubernetesExecutableLocation,
    SageMakerClusterResolver,
    SimpleClusterResolver,
    SlurmClusterResolver,
    TFConfigClusterResolver,
    UnionResolver,
)

__getattr__ = _explain_missing_names("tf.distribute.cluster_resolver")
