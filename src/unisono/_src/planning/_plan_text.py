"""A plan as text for the terminal."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from unisono._src.core import format_bytes
from unisono._src.planning._cost_model import MOST_DEVICES, Prediction, last_that_pays, least_gain
from unisono._src.planning._plan import ResourcePlan


def print_plan(plan: ResourcePlan, console: Console) -> None:
    """Prints all of a plan."""
    for line in _describe(plan):
        console.print(line, markup=False, highlight=False)
    for title, predictions in (
        (f"Fixed global batch of {plan.global_batch}", plan.same_batch),
        ("Fixed rows per device, growing global batch", plan.same_rows),
    ):
        if predictions:
            console.print()
            console.print(_table(title, predictions))
            console.print(_verdict(predictions), markup=False, highlight=False)
    for note in plan.notes:
        console.print()
        console.print(textwrap.fill(" ".join(note.split()), console.width), markup=False, highlight=False)


def _describe(plan: ResourcePlan) -> Iterator[str]:
    yield (
        f"{plan.model}: {plan.parameters:,} parameters, {plan.strategy} on {plan.devices} {plan.platform.upper()} "
        f"device{'s' * (plan.devices > 1)}, global batch {plan.global_batch}"
    )
    memory = plan.memory
    yield ""
    over = f"{plan.memory_devices} device{'s' * (plan.memory_devices > 1)}"
    yield f"Memory per device with the batch split over {over} (XLA's figures for the compiled step)"
    yield f"  arguments: weights, optimizer, metrics, batch  {format_bytes(memory.arguments):>10}"
    yield f"  outputs that do not reuse arguments            {format_bytes(memory.outputs - memory.shared):>10}"
    yield f"  temporaries: activations, gradients            {format_bytes(memory.temporaries):>10}"
    yield f"  training data that stays on the device         {format_bytes(memory.resident):>10}"
    limit = "" if plan.memory_limit is None else f"  of {format_bytes(plan.memory_limit)} available"
    yield f"  total                                          {format_bytes(memory.total):>10}{limit}"
    if plan.largest_batch is not None:
        found = plan.largest_batch
        why = ", limited by the rows of the data" if found.is_all_rows else ""
        rows = found.global_batch_size // plan.replicas
        yield f"Largest global batch that fits: {found.global_batch_size} ({rows} rows per replica{why})"
    touched = format_bytes(plan.bytes_accessed)
    work = f"{plan.flops / 1e9:,.3g} GFLOP in matrix products and convolutions"
    yield f"A step on one device: {work}, {touched} read and written"
    sums = Counter[str]()
    for each in plan.collectives:
        sums[each.kind] += each.num_bytes
    sent = ", ".join(f"{kind} of {format_bytes(size)}" for kind, size in sums.items())
    yield f"Exchange per step: {sent or 'nothing'}"
    yield f"  {plan.exchange}"
    if plan.cores is not None:
        yield (
            f"CPU devices share {plan.cores} core{'s' * (plan.cores > 1)}: times are predicted for up to "
            f"{plan.most_devices} device{'s' * (plan.most_devices > 1)}."
        )
        yield f"  More of them: --devices 8. Up to {MOST_DEVICES} with a machine each: --bandwidth 100gbe, say."


def _table(title: str, predictions: Sequence[Prediction]) -> Table:
    table = Table(title=title, title_justify="left")
    for name in ("devices", "rows/device", "compute ms", "exchange ms", "step ms", "rows/s", "efficiency"):
        table.add_column(name, justify="right")
    for each in predictions:
        table.add_row(
            f"{each.devices}",
            f"{each.rows}",
            *(f"{seconds * 1e3:.3g}" for seconds in (each.compute, each.exchange, each.seconds)),
            f"{each.rows_per_second:,.0f}",
            f"{each.efficiency:.0%}",
        )
    return table


def _verdict(predictions: Sequence[Prediction]) -> str:
    last = last_that_pays(predictions)
    if last is predictions[-1]:
        if last.devices == 1:
            why = "a batch of one row cannot be divided" if last.global_batch == 1 else "this machine has one core"
            return f"There is nothing to compare: {why}."
        return f"More devices are worthwhile up to {last.devices}, the largest number in the table."
    following = next(each for each in predictions if each.devices > last.devices)
    gain = following.rows_per_second / last.rows_per_second
    step = "a doubling" if following.devices == 2 * last.devices else "this"
    return (
        f"More devices are worthwhile up to {last.devices}: {following.devices} would be only {gain:.2f} times as fast "
        f"({step} should bring at least {least_gain(last, following):.3g} times)."
    )
