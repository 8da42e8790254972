#!/bin/bash
# Trains on all GPUs of two machines:    sbatch slurm.sh train.py --lr 0.1
# One task per machine; `unisono run` starts the workers there and detects the cluster from SLURM.

#SBATCH --job-name=unisono
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH --time=08:00:00
#SBATCH --signal=TERM@120    # two minutes before the time is up: workers save and exit with code 75
#SBATCH --requeue            # a lost machine puts the job back into the queue
#SBATCH --open-mode=append   # and its output continues in the same file
#SBATCH --output=slurm-%j.out

set -uo pipefail

# Activate your environment here:    source .venv/bin/activate

# The folder must be the same on all machines and after a requeue: on a shared file system, named by the job.
# --grace is less than the 120 seconds above. -n gpu would start one worker per GPU instead of one per machine.
srun --kill-on-bad-exit=1 \
    unisono run \
    --run-dir "runs/${SLURM_JOB_NAME}-${SLURM_JOB_ID}" \
    --max-restarts 3 \
    --grace 100 \
    "$@"
code=$?

# 75: the workers have saved their state and ask to be restarted (docs/launch.md).
if [[ $code -eq 75 ]]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
