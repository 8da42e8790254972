"""Cluster resolvers: which processes take part in a job."""

from unisono._src.strategy._tpu_cluster_resolver import TPUClusterResolver, TPUSystemMetadata
from unisono_launch.cluster import (
    ClusterResolver, ClusterSpec, DstackClusterResolver, GCEClusterResolver, JaxClusterResolver,
    KubernetesClusterResolver, KubernetesExecutableLocation, LaunchedClusterResolver, Membership,
    OpenMpiClusterResolver, SageMakerClusterResolver, SimpleClusterResolver, SkyPilotClusterResolver,
    SlurmClusterResolver, TFConfigClusterResolver, TorchrunClusterResolver, TPUPodClusterResolver,
    TPUVMClusterResolver, UnionResolver, detect, explain_detection, membership,
)

__all__ = [
    "ClusterResolver", "ClusterSpec", "DstackClusterResolver", "GCEClusterResolver", "JaxClusterResolver",
    "KubernetesClusterResolver", "KubernetesExecutableLocation", "LaunchedClusterResolver", "Membership",
    "OpenMpiClusterResolver", "SageMakerClusterResolver", "SimpleClusterResolver", "SkyPilotClusterResolver",
    "SlurmClusterResolver", "TFConfigClusterResolver", "TPUClusterResolver", "TPUPodClusterResolver",
    "TPUSystemMetadata", "TPUVMClusterResolver", "TorchrunClusterResolver", "UnionResolver", "detect",
    "explain_detection", "membership",
]
