"""Who takes part in this training, and which of them is this process."""

from unisono_launch.cluster._accelerators import num_driver_gpus as num_driver_gpus
from unisono_launch.cluster._accelerators import visible_gpus as visible_gpus
from unisono_launch.cluster._address import join_address as join_address
from unisono_launch.cluster._address import split_address as split_address
from unisono_launch.cluster._detect import DetectionStep as DetectionStep
from unisono_launch.cluster._detect import detect as detect
from unisono_launch.cluster._detect import explain_detection as explain_detection
from unisono_launch.cluster._hostlist import expand_hostlist as expand_hostlist
from unisono_launch.cluster._hostlist import expand_tasks_per_node as expand_tasks_per_node
from unisono_launch.cluster._kubernetes import KubernetesClusterResolver as KubernetesClusterResolver
from unisono_launch.cluster._kubernetes import KubernetesExecutableLocation as KubernetesExecutableLocation
from unisono_launch.cluster._launched import LaunchedClusterResolver as LaunchedClusterResolver
from unisono_launch.cluster._membership import Membership as Membership
from unisono_launch.cluster._open_mpi import OpenMpiClusterResolver as OpenMpiClusterResolver
from unisono_launch.cluster._refused import GCEClusterResolver as GCEClusterResolver
from unisono_launch.cluster._refused import SageMakerClusterResolver as SageMakerClusterResolver
from unisono_launch.cluster._resolver import ClusterResolver as ClusterResolver
from unisono_launch.cluster._resolver import membership as membership
from unisono_launch.cluster._simple import SimpleClusterResolver as SimpleClusterResolver
from unisono_launch.cluster._slurm import SlurmClusterResolver as SlurmClusterResolver
from unisono_launch.cluster._spec import ClusterSpec as ClusterSpec
from unisono_launch.cluster._tf_config import TFConfigClusterResolver as TFConfigClusterResolver
from unisono_launch.cluster._torchrun import TorchrunClusterResolver as TorchrunClusterResolver
from unisono_launch.cluster._tpu_pod import TPUPodClusterResolver as TPUPodClusterResolver
from unisono_launch.cluster._union import UnionResolver as UnionResolver
from unisono_launch.cluster._variables import fake_tpu_cores as fake_tpu_cores
