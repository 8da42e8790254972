#!/bin/bash
# Trains on all GPUs of the machines in hosts.txt, one name per line:    ./openmpi.sh train.py --lr 0.1
# One process per machine; `unisono run` starts the workers there and detects the cluster from Open MPI.
# Nobody restarts the job: type the same command again, and it continues from its last checkpoint.

# Activate your environment here, also on the other machines:    source .venv/bin/activate

# Only workers of this job may join it.
export UNISONO_JOB_SECRET="${UNISONO_JOB_SECRET:-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')}"

# The run folder must be on a file system that all machines share.
# odls_base_sigkill_timeout: when mpirun gets SIGTERM, or one process has ended with an error, mpirun waits so many
# seconds, sends SIGTERM to the processes, waits as long again, and kills them. Its default, one second, is too short to
# save.
mpirun --hostfile hosts.txt -n "$(grep -c . hosts.txt)" --map-by ppr:1:node --bind-to none \
    -x UNISONO_JOB_SECRET \
    --mca odls_base_sigkill_timeout 30 \
    unisono run \
    --run-dir runs/mnist \
    --grace 25 \
    "$@"
