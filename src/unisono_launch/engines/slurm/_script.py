"""The batch script of a job. `examples/cluster/slurm.sh` is one, with places for the user's own words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NOTICE_MARGIN: Final = 20  # seconds of the notice before the time limit are for the requeue, the rest for the workers

_TEMPLATE: Final = """\
#!/bin/bash
{title}
# One task per machine; `unisono run` starts the workers there and detects the cluster from SLURM (docs/slurm.md).

{directives}

{setup}# Only workers of this job may join it.
export UNISONO_JOB_SECRET="${{UNISONO_JOB_SECRET:-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')}}"

# All machines use the same folder, also after a requeue: it must be on a shared file system.
# --kill-on-bad-exit=0: while one machine has saved and ended, another may still be saving.
srun --kill-on-bad-exit=0{srun_options} \\
    {launcher} run \\
{flags}
    {program}
code=$?

is_preempted() {{ scontrol show job "$SLURM_JOB_ID" | grep -q 'PreemptTime=[0-9]'; }}

# 75: the workers have saved their state and ask to be restarted. 143: they were stopped before they could save.
if [[ $code -eq 75 ]] || {{ [[ $code -eq 143 ]] && is_preempted; }}; then
    scontrol requeue "$SLURM_JOB_ID" || {{
        echo "unisono: SLURM does not let job $SLURM_JOB_ID requeue itself. To continue it, submit it again:"
        printf '    sbatch'; printf ' %q' {again}; echo
    }} >&2
fi
exit "$code"
"""


@dataclass(frozen=True, kw_only=True)
class BatchScript:
    """The parts of a batch script, as text of the shell."""

    title: str
    """The comment that begins it."""
    resources: tuple[str, ...]
    """Options of sbatch, in the script's order."""
    output: str
    extra: tuple[str, ...] = ()
    """Options of sbatch that come last: of two that contradict, SLURM takes the later."""
    setup: tuple[str, ...] = ()
    """Commands that run before `srun`, on the first machine; their environment is that of the workers."""
    launcher: str = "unisono"
    flags: tuple[str, ...]
    """Of `unisono run`, without `--grace`."""
    grace: int
    """Seconds that the workers have to save before the time limit."""
    program: str
    again: str
    """What follows `sbatch` to continue the job where SLURM does not requeue it: words of the shell."""
    sets_cpus: bool = False
    """Whether the resources have `--cpus-per-task`, which `srun` does not take over since SLURM 22.05."""

    def text(self) -> str:
        """The script."""
        notice = self.grace + NOTICE_MARGIN
        lines = [
            *((line, "") for line in self.resources),
            (f"--signal=TERM@{notice}", f"{notice} s before the time limit: workers save and exit with code 75"),
            ("--requeue", "a preemption or a lost machine puts the job back into the queue"),
            ("--open-mode=append", "and its output continues in the same file"),
            (f"--output={self.output}", ""),
            *((line, "") for line in self.extra),
        ]
        width = max(len(line) for line, comment in lines if comment)
        directives = [
            f"#SBATCH {line.ljust(width)}   # {comment}" if comment else f"#SBATCH {line}" for line, comment in lines
        ]
        flags = [*self.flags, f"--grace {self.grace}"]
        return _TEMPLATE.format(
            title=self.title,
            directives="\n".join(directives),
            setup="".join(f"{line}\n" for line in self.setup) + ("\n" if self.setup else ""),
            srun_options=' --cpus-per-task="$SLURM_CPUS_PER_TASK"' if self.sets_cpus else "",
            launcher=self.launcher,
            flags="\n".join(f"    {flag} \\" for flag in flags),
            program=self.program,
            again=self.again,
        )
