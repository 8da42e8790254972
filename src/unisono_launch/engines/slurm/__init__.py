"""`unisono run --on slurm`: writes a batch script, submits it, and follows its output."""

from unisono_launch.engines.slurm._submit import submit

__all__ = ["submit"]
