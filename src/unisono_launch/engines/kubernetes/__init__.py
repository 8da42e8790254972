"""`unisono run --on kubernetes`: a TrainJob or a JobSet, printed, or applied with kubectl and followed."""

from unisono_launch.engines.kubernetes._submit import submit

__all__ = ["submit"]
