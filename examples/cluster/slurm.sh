#!/bin/bash
# Trains on all GPUs of two machines:    sbatch slurm.sh train.py --lr 0.1
# One task per machine; `unisono run` starts the workers there and detects the cluster from SLURM (docs/slurm.md).

#SBATCH --job-name=unisono
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH --time=08:00:00
#SBATCH --signal=TERM@120    # 120 s before the time limit: workers save and exit with code 75
#SBATCH --requeue            # a preemption or a lost machine puts the job back into the queue
#SBATCH --open-mode=append   # and its output continues in the same file
#SBATCH --output=slurm-%j.out

# Activate your environment here:    source .venv/bin/activate

# Only workers of this job may join it.
export UNISONO_JOB_SECRET="${UNISONO_JOB_SECRET:-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')}"

# All machines use the same folder, also after a requeue: it must be on a shared file system.
# --kill-on-bad-exit=0: while one machine has saved and ended, another may still be saving.
srun --kill-on-bad-exit=0 --cpus-per-task="$SLURM_CPUS_PER_TASK" \
    unisono run \
    --run-dir "runs/${SLURM_JOB_NAME}-${SLURM_JOB_ID}" \
    --max-restarts 3 \
    --grace 100 \
    "$@"
code=$?

is_preempted() { scontrol show job "$SLURM_JOB_ID" | grep -q 'PreemptTime=[0-9]'; }

# 75: the workers have saved their state and ask to be restarted. 143: they were stopped before they could save.
if [[ $code -eq 75 ]] || { [[ $code -eq 143 ]] && is_preempted; }; then
    scontrol requeue "$SLURM_JOB_ID" || {
        echo "unisono: SLURM does not let job $SLURM_JOB_ID requeue itself. To continue it, submit it again:"
        printf '    sbatch'; printf ' %q' slurm.sh --run-dir "runs/${SLURM_JOB_NAME}-${SLURM_JOB_ID}" "$@"; echo
    } >&2
fi
exit "$code"
