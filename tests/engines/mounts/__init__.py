"""Checkpoints on real mounts that cannot rename a folder."""
