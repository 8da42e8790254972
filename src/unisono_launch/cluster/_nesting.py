"""A launcher inside of a launcher: whose numbers count."""

from __future__ import annotations

from collections.abc import Mapping


def inner_launcher(environ: Mapping[str, str], *, of: str) -> str | None:
    """The launcher that started this process inside of one task of `of`, as a reason; None if there is none.

    `srun torchrun …` starts one torchrun on each node, and mpirun under SLURM starts its own daemons with srun. The
    processes below inherit the outer numbers, which count nodes or daemons and not them.
    """
    if environ.get("TORCHELASTIC_RUN_ID"):
        return f"TORCHELASTIC_RUN_ID is set: torchrun started this process, inside of a task of {of}"
    if environ.get("OMPI_COMM_WORLD_SIZE") and of != "Open MPI":
        return f"OMPI_COMM_WORLD_SIZE is set: mpirun started this process, inside of a task of {of}"
    return None
