"""`unisono run --on ray`, and the backend by which Ray Train starts workers of Unisono."""

from unisono_launch.engines.ray._submit import require_ray, submit

__all__ = ["require_ray", "submit"]
