"""Environments of real systems, as far as anything in them matters.

`TORCHRUN`, `OPEN_MPI_4` and `OPEN_MPI_5` were printed by processes of torch 2.13, Open MPI 4.1.8 and 5.0.11. The rest
are put together from the systems' documentation: srun's and sbatch's "output environment variables", Kubernetes' "Job
with Pod-to-Pod Communication", JobSet's "jobset-with-network.yaml", Google's TPU pages.
"""

Environ = dict[str, str]

# sbatch --nodes=2 --ntasks-per-node=4 --gres=gpu:4, in the script itself, before any srun.
SBATCH: Environ = {
    "SLURM_JOB_ID": "200505",
    "SLURM_JOBID": "200505",
    "SLURM_JOB_NODELIST": "gnode[10,20]",
    "SLURM_NODELIST": "gnode[10,20]",
    "SLURM_JOB_NUM_NODES": "2",
    "SLURM_NNODES": "2",
    "SLURM_NTASKS": "8",
    "SLURM_NPROCS": "8",
    "SLURM_NTASKS_PER_NODE": "4",
    "SLURM_TASKS_PER_NODE": "4(x2)",
    "SLURM_PROCID": "0",
    "SLURM_LOCALID": "0",
    "SLURM_NODEID": "0",
    "SLURMD_NODENAME": "gnode10",
    "CUDA_VISIBLE_DEVICES": "0,1,2,3",
}

# srun inside it: the sixth task, which is the second one on the second node.
SRUN: Environ = {
    **SBATCH,
    "SLURM_STEP_ID": "0",
    "SLURM_STEPID": "0",
    "SLURM_STEP_NODELIST": "gnode[10,20]",
    "SLURM_STEP_NUM_NODES": "2",
    "SLURM_STEP_NUM_TASKS": "8",
    "SLURM_STEP_TASKS_PER_NODE": "4(x2)",
    "SLURM_DISTRIBUTION": "block",
    "SLURM_GPUS_ON_NODE": "4",
    "SLURM_PROCID": "5",
    "SLURM_LOCALID": "1",
    "SLURM_NODEID": "1",
    "SLURMD_NODENAME": "gnode20",
}

# srun --ntasks-per-node=4 --gpus-per-task=1: each task sees its own GPU.
SRUN_GPU_PER_TASK: Environ = {**SRUN, "SLURM_GPUS_PER_TASK": "1", "CUDA_VISIBLE_DEVICES": "1"}

# srun --pty bash, where people try things out.
SRUN_SHELL: Environ = {
    **SBATCH,
    "SLURM_STEP_ID": "4294967290",
    "SLURM_STEP_NODELIST": "gnode10",
    "SLURM_STEP_NUM_TASKS": "1",
    "SLURM_STEP_TASKS_PER_NODE": "1",
    "SLURM_NTASKS": "1",
}

# Pod 2 of the Job "example-job" with completions: 3 and subdomain: headless-svc.
INDEXED_JOB: Environ = {
    "KUBERNETES_SERVICE_HOST": "10.96.0.1",
    "KUBERNETES_SERVICE_PORT": "443",
    "HOSTNAME": "example-job-2",
    "JOB_COMPLETION_INDEX": "2",
    "UNISONO_NUM_NODES": "3",
    "UNISONO_SUBDOMAIN": "headless-svc",
}

# Pod 1 of JobSet "network-jobset", replicated job "workers", with network.subdomain: example.
JOBSET: Environ = {
    "KUBERNETES_SERVICE_HOST": "10.96.0.1",
    "HOSTNAME": "network-jobset-workers-0-1",
    "JOB_COMPLETION_INDEX": "1",
    "UNISONO_NUM_NODES": "2",
    "UNISONO_SUBDOMAIN": "example",
}

# mpirun -n 2, both on this machine.
OPEN_MPI_4: Environ = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
    "OMPI_COMM_WORLD_NODE_RANK": "1",
    "OMPI_MCA_orte_hnp_uri": "188219392.0;tcp://192.0.2.2:49053;tcp6://[fd00::2]:37435",
    "OMPI_MCA_orte_local_daemon_uri": "188219392.0;tcp://192.0.2.2:49053;tcp6://[fd00::2]:37435",
    "OMPI_UNIVERSE_SIZE": "2",
    "PMIX_NAMESPACE": "188219393",
    "PMIX_RANK": "1",
    "PMIX_SERVER_URI3": "188219392.0;tcp4://127.0.0.1:41777",
}
OPEN_MPI_5: Environ = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
    "OMPI_COMM_WORLD_NODE_RANK": "1",
    "OMPI_UNIVERSE_SIZE": "2",
    "OMPI_VERSION": "5.0.11",
    "PMIX_NAMESPACE": "prterun-vm-26583@1",
    "PMIX_RANK": "1",
    "PMIX_SERVER_URI41": "prterun-vm-26583@0.0;tcp4://127.0.0.1:44369",
    "PRTE_LAUNCHED": "1",
}
_FIRST_OF_SECOND_NODE = {
    "OMPI_COMM_WORLD_RANK": "2",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_LOCAL_RANK": "0",
}
OPEN_MPI_4_TWO_NODES: Environ = {**OPEN_MPI_4, **_FIRST_OF_SECOND_NODE}
OPEN_MPI_5_TWO_NODES: Environ = {
    **OPEN_MPI_5,
    **_FIRST_OF_SECOND_NODE,
    "PMIX_SERVER_URI41": "prterun-vm-26583@0.1;tcp4://127.0.0.1:51515",
}
# mpirun in a job of SLURM starts its daemons on the other nodes with srun, one on each; the ranks inherit from them.
MPIRUN_UNDER_SLURM: Environ = {
    **SRUN,
    "SLURM_STEP_NUM_TASKS": "3",
    "SLURM_STEP_NODELIST": "gnode[20-22]",
    "SLURM_STEP_TASKS_PER_NODE": "1(x3)",
    "SLURM_PROCID": "0",
    **OPEN_MPI_4_TWO_NODES,
}

# torchrun --nproc-per-node 2
TORCHRUN: Environ = {
    "GROUP_RANK": "0",
    "GROUP_WORLD_SIZE": "1",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "2",
    "MASTER_ADDR": "localhost",
    "MASTER_PORT": "41435",
    "RANK": "1",
    "ROLE_NAME": "default",
    "ROLE_RANK": "1",
    "ROLE_WORLD_SIZE": "2",
    "TORCHELASTIC_MAX_RESTARTS": "0",
    "TORCHELASTIC_RESTART_COUNT": "0",
    "TORCHELASTIC_RUN_ID": "497e51b6-eefe-47ec-ac3d-69a033853f22",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
    "WORLD_SIZE": "2",
}
# srun --ntasks-per-node=1 torchrun --nnodes 2 --nproc-per-node 4: worker 5 of 8.
TORCHRUN_UNDER_SLURM: Environ = {
    **SRUN,
    **TORCHRUN,
    "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_STEP_TASKS_PER_NODE": "1(x2)",
    "SLURM_PROCID": "1",
    "RANK": "5",
    "WORLD_SIZE": "8",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "4",
    "MASTER_ADDR": "gnode10",
    "MASTER_PORT": "29500",
}
# Kubeflow's PyTorchJob: the same variables without torchrun.
PYTORCH_JOB: Environ = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "mnist-master-0", "MASTER_PORT": "23456"}

TF_CONFIG: Environ = {
    "TF_CONFIG": '{"cluster": {"worker": ["localhost:12345", "localhost:23456"]}, '
    '"task": {"type": "worker", "index": 1}}'
}
# Kubeflow's TFJob.
TF_JOB: Environ = {
    "TF_CONFIG": '{"cluster": {"chief": ["mnist-chief-0.ns.svc:2222"], "evaluator": ["mnist-evaluator-0.ns.svc:2222"], '
    '"worker": ["mnist-worker-0.ns.svc:2222", "mnist-worker-1.ns.svc:2222"]}, '
    '"task": {"type": "worker", "index": 1}, "environment": "cloud"}'
}

UNISONO_RUN: Environ = {
    "UNISONO_CLUSTER": '{"version": 1, "coordinator": "127.0.0.1:41000", "num_processes": 4, "process_id": 2, "names": '
    '["worker 0 on hosta", "worker 1 on hosta", "worker 2 on hostb", "worker 3 on hostb"], '
    '"local": {"rank": 0, "size": 2}}'
}

# A slice of four machines on GKE, and one of two slices of two.
TPU_POD: Environ = {
    "TPU_WORKER_ID": "3",
    "TPU_WORKER_HOSTNAMES": "tpu-0.headless-svc,tpu-1.headless-svc,tpu-2.headless-svc,tpu-3.headless-svc",
}
TPU_TWO_SLICES: Environ = {
    "TPU_WORKER_ID": "1",
    "TPU_WORKER_HOSTNAMES": "slice-1-0.svc,slice-1-1.svc",
    "MEGASCALE_NUM_SLICES": "2",
    "MEGASCALE_SLICE_ID": "1",
    "MEGASCALE_COORDINATOR_ADDRESS": "slice-0-0.svc:8080",
}
TPU_MACHINE: Environ = {"TPU_WORKER_ID": "0", "TPU_WORKER_HOSTNAMES": "localhost"}

# Kubeflow Trainer's TrainJob "mnist" with the runtime jax-distributed: its second pod, of an indexed Job of a JobSet.
TRAIN_JOB: Environ = {
    "KUBERNETES_SERVICE_HOST": "10.96.0.1",
    "HOSTNAME": "mnist-node-0-1",
    "JOB_COMPLETION_INDEX": "1",
    "JAX_COORDINATOR_ADDRESS": "mnist-node-0-0.mnist:29500",
    "JAX_NUM_PROCESSES": "2",
    "JAX_PROCESS_ID": "1",
}

# The second of two nodes. SkyPilot and dstack write a line for each address.
SKYPILOT: Environ = {
    "SKYPILOT_NODE_RANK": "1",
    "SKYPILOT_NUM_NODES": "2",
    "SKYPILOT_NODE_IPS": "10.0.0.4\n10.0.0.5",
    "SKYPILOT_NUM_GPUS_PER_NODE": "8",
    "SKYPILOT_TASK_ID": "sky-2026-01-31-12-00-00-000000_mycluster_1",
}
DSTACK: Environ = {
    "DSTACK_NODE_RANK": "1",
    "DSTACK_NODES_NUM": "2",
    "DSTACK_MASTER_NODE_IP": "10.128.0.47",
    "DSTACK_NODES_IPS": "10.128.0.47\n10.128.0.48",
    "DSTACK_GPUS_PER_NODE": "8",
    "DSTACK_RUN_NAME": "train-distrib",
}
DSTACK_BEFORE_0_18_25: Environ = {name: value for name, value in DSTACK.items() if name != "DSTACK_NODES_IPS"}
