"""Which processes take part in a training, and which of them this one is."""

from unisono_launch.cluster._accelerators import has_tpu_files, has_uncounted_gpus, num_driver_gpus, visible_gpus
from unisono_launch.cluster._address import join_address, split_address
from unisono_launch.cluster._cloud_nodes import DstackClusterResolver, SkyPilotClusterResolver
from unisono_launch.cluster._detect import DetectionStep, detect, explain_detection
from unisono_launch.cluster._slurm_hostlist import expand_hostlist, expand_tasks_per_node
from unisono_launch.cluster._jax_variables import JaxClusterResolver
from unisono_launch.cluster._kubernetes import KubernetesClusterResolver, KubernetesExecutableLocation
from unisono_launch.cluster._launched import LaunchedClusterResolver
from unisono_launch.cluster._membership import Membership
from unisono_launch.cluster._open_mpi import OpenMpiClusterResolver
from unisono_launch.cluster._refused import GCEClusterResolver, SageMakerClusterResolver
from unisono_launch.cluster._resolver import ClusterResolver, membership
from unisono_launch.cluster._simple import SimpleClusterResolver
from unisono_launch.cluster._slurm import SlurmClusterResolver, is_srun_task
from unisono_launch.cluster._slurm_job import SlurmError, SlurmJob, call_slurm, read_job, seconds_until_kill
from unisono_launch.cluster._spec import ClusterSpec
from unisono_launch.cluster._tf_config import TFConfigClusterResolver, has_parameter_servers
from unisono_launch.cluster._torchrun import TorchrunClusterResolver
from unisono_launch.cluster._tpu_pod import TPUPodClusterResolver
from unisono_launch.cluster._tpu_vm import TPUVMClusterResolver
from unisono_launch.cluster._union import UnionResolver
from unisono_launch.cluster._variables import RESTARTS, fake_tpu_cores, num_requeues
