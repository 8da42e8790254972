"""`tf.distribute.cluster_resolver`: who takes part in a training."""

from unisono.cluster_resolver import ClusterResolver as ClusterResolver
from unisono.cluster_resolver import GCEClusterResolver as GCEClusterResolver
from unisono.cluster_resolver import KubernetesClusterResolver as KubernetesClusterResolver
from unisono.cluster_resolver import KubernetesExecutableLocation as KubernetesExecutableLocation
from unisono.cluster_resolver import SageMakerClusterResolver as SageMakerClusterResolver
from unisono.cluster_resolver import SimpleClusterResolver as SimpleClusterResolver
from unisono.cluster_resolver import SlurmClusterResolver as SlurmClusterResolver
from unisono.cluster_resolver import TFConfigClusterResolver as TFConfigClusterResolver
from unisono.cluster_resolver import TPUClusterResolver as TPUClusterResolver
from unisono.cluster_resolver import UnionResolver as UnionResolver
from unisono.tf._missing import missing_in as _missing_in

__getattr__ = _missing_in("tf.distribute.cluster_resolver")
