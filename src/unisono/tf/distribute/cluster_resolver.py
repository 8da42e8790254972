"""`tf.distribute.cluster_resolver`: who takes part in a training."""

from unisono._src.strategy._tpu_cluster_resolver import TPUClusterResolver as TPUClusterResolver
from unisono.tf._missing import missing_in as _missing_in
from unisono_launch.cluster import ClusterResolver as ClusterResolver
from unisono_launch.cluster import GCEClusterResolver as GCEClusterResolver
from unisono_launch.cluster import KubernetesClusterResolver as KubernetesClusterResolver
from unisono_launch.cluster import KubernetesExecutableLocation as KubernetesExecutableLocation
from unisono_launch.cluster import SageMakerClusterResolver as SageMakerClusterResolver
from unisono_launch.cluster import SimpleClusterResolver as SimpleClusterResolver
from unisono_launch.cluster import SlurmClusterResolver as SlurmClusterResolver
from unisono_launch.cluster import TFConfigClusterResolver as TFConfigClusterResolver
from unisono_launch.cluster import UnionResolver as UnionResolver

__getattr__ = _missing_in("tf.distribute.cluster_resolver")
