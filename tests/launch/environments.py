"""Environments of clusters, as launchers find them."""

# srun --nodes=2 --ntasks-per-node=1: the task on the second machine.
SLURM = {
    "SLURM_JOB_ID": "200505",
    "SLURM_STEP_ID": "0",
    "SLURM_PROCID": "1",
    "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_STEP_NODELIST": "gnode[10,20]",
    "SLURM_STEP_TASKS_PER_NODE": "1(x2)",
}
