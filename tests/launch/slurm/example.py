"""The batch script of examples/cluster, from the code that writes those of `unisono run --on slurm`.

python -m tests.launch.slurm.example > examples/cluster/slurm.sh
"""

from __future__ import annotations

from unisono_launch.engines.slurm._script import BatchScript

RUN_DIR = '"runs/${SLURM_JOB_NAME}-${SLURM_JOB_ID}"'


def example() -> str:
    """The script for users who write their own: the job's number names the folder, the program comes from sbatch."""
    return BatchScript(
        title="# Trains on all GPUs of two machines:    sbatch slurm.sh train.py --lr 0.1",
        resources=(
            "--job-name=unisono",
            "--nodes=2",
            "--ntasks-per-node=1",
            "--gpus-per-node=4",
            "--cpus-per-task=16",
            "--time=08:00:00",
        ),
        output="slurm-%j.out",
        setup=("# Activate your environment here:    source .venv/bin/activate",),
        flags=(f"--run-dir {RUN_DIR}", "--max-restarts 3"),
        grace=100,
        program='"$@"',
        again=f'slurm.sh --run-dir {RUN_DIR} "$@"',
        sets_cpus=True,
    ).text()


if __name__ == "__main__":
    print(example(), end="")
