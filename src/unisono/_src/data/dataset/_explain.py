"""The decisions about a plan, as a table."""

from __future__ import annotations

from unisono._src.data.dataset._execution import Execution


def format_decisions(execution: Execution) -> str:
    """One line for each member of the plan: what it is, where it runs, why not somewhere better."""
    lines = [(each.member, each.where, each.reason) for each in execution.decisions]
    members, places = (max(len(line[column]) for line in lines) for column in (0, 1))
    table = [f"{member:<{members}} {where:<{places}} {reason}".rstrip() for member, where, reason in lines]
    return "\n".join([*table, "", _summary(execution)])


def _summary(execution: Execution) -> str:
    if execution.complete and execution.untraceable is None:
        return "In fit: rows are gathered and mapped inside the compiled step; Python does not run for a batch."
    if execution.untraceable is not None:
        return f"In fit: batches are made on the host, ahead of the step. {execution.untraceable}."
    return "In fit: batches are made on the host, ahead of the step: not every operation can be done by row number."
