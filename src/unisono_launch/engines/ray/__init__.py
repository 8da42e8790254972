"""`unisono run --on ray`, and the backend by which Ray Train starts workers of Unisono."""

from unisono_launch.engines.ray._installed import require_ray
from unisono_launch.engines.ray._submit import submit

__all__ = ["require_ray", "submit"]
