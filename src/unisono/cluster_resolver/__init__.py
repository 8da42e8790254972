"""Cluster resolvers: who takes part in training. They live in `unisono_launch`, which knows no JAX; TPUs need it."""

from unisono.cluster_resolver._tpu import TPUClusterResolver as TPUClusterResolver
from unisono.cluster_resolver._tpu import TPUSystemMetadata as TPUSystemMetadata
from unisono_launch.cluster import ClusterResolver as ClusterResolver
from unisono_launch.cluster import ClusterSpec as ClusterSpec
from unisono_launch.cluster import GCEClusterResolver as GCEClusterResolver
from unisono_launch.cluster import KubernetesClusterResolver as KubernetesClusterResolver
from unisono_launch.cluster import KubernetesExecutableLocation as KubernetesExecutableLocation
from unisono_launch.cluster import LaunchedClusterResolver as LaunchedClusterResolver
from unisono_launch.cluster import Membership as Membership
from unisono_launch.cluster import OpenMpiClusterResolver as OpenMpiClusterResolver
from unisono_launch.cluster import SageMakerClusterResolver as SageMakerClusterResolver
from unisono_launch.cluster import SimpleClusterResolver as SimpleClusterResolver
from unisono_launch.cluster import SlurmClusterResolver as SlurmClusterResolver
from unisono_launch.cluster import TFConfigClusterResolver as TFConfigClusterResolver
from unisono_launch.cluster import TorchrunClusterResolver as TorchrunClusterResolver
from unisono_launch.cluster import TPUPodClusterResolver as TPUPodClusterResolver
from unisono_launch.cluster import UnionResolver as UnionResolver
from unisono_launch.cluster import detect as detect
from unisono_launch.cluster import explain_detection as explain_detection
from unisono_launch.cluster import membership as membership
