"""`unisono run --on ENGINE`: jobs on machines that Ray, SLURM or Kubernetes manages."""

from unisono_launch.engines._run import run

__all__ = ["run"]
