"""Saved state: folders of arrays on disk, and checkpoints of objects."""
