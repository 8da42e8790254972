#!/bin/bash
# Trains on all TPU VMs of a slice:    ./tpu-vm.sh my-tpu us-central2-b train.py --lr 0.1
# Copies the script to every VM and starts the same command there. `unisono run` finds the other VMs by asking the
# metadata server, as JAX does. Nothing starts the job again when Google has reclaimed the slice.

set -euo pipefail

if [[ $# -lt 3 ]]; then
    echo "usage: $0 TPU ZONE SCRIPT [arguments of the script]" >&2
    exit 2
fi
tpu=$1 zone=$2 script=$3
name=$(basename "$script")
shift 3

# A folder that all VMs see and that outlives them: a bucket that is mounted on every VM, or Filestore.
run_dir="/mnt/runs/$tpu"

gcloud compute tpus tpu-vm scp "$script" "$tpu:" --zone="$zone" --worker=all

# Every VM needs an environment with Python 3.11 or newer and Unisono, by `pip install '/path/to/unisono[tpu]'` from a
# clone; here it is ~/venv.
# ${name@Q} quotes a word for the shell of the VM.
gcloud compute tpus tpu-vm ssh "$tpu" --zone="$zone" --worker=all \
    --command="source ~/venv/bin/activate && unisono run --run-dir ${run_dir@Q} --grace 100 ${name@Q} ${*@Q}"
