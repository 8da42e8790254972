"""On what a run trained, what, and with which data: the contents of run.json, as lines for a reader."""

from __future__ import annotations

from typing import Any

from unisono._src.charts import format_number
from unisono._src.reports._read_run import make_printable
from unisono._src.reports._run import FitRecord, Run, get_number, get_object
from unisono._src.reports._time_line import describe_status


def list_facts(run: Run, fit: FitRecord, now: float) -> dict[str, str]:
    """By name, as text. What is not in run.json is left out."""
    facts = {
        "status": describe_status(run, now),
        "folder": make_printable(str(run.path)),
        "devices": _describe_devices(run),
        "workers": run.description.get("workers"),
        "strategy": _describe_strategy(run),
        "host": _join(run.description.get("host"), run.description.get("system")),
        "versions": _join(*(f"{name} {version}" for name, version in get_object(run.description, "versions").items())),
        "model": _describe_model(fit),
        "global batch": fit.description.get("batch"),
        "steps per epoch": fit.description.get("steps_per_epoch"),
        "input": _describe_input(fit),
    }
    return {name: str(value) for name, value in facts.items() if value}


def _describe_devices(run: Run) -> str:
    devices = run.description.get("devices")
    kinds = [each for each in devices if isinstance(each, dict)] if isinstance(devices, list) else []
    return _join(*(f"{each.get('count')} × {each.get('kind')} ({each.get('platform')})" for each in kinds))


def _describe_strategy(run: Run) -> str:
    mesh = _join(*(f"{axis}={size}" for axis, size in get_object(run.description, "mesh").items()))
    return _join(run.description.get("strategy"), mesh and f"mesh {mesh}")


def _describe_model(fit: FitRecord) -> str:
    parameters, state = (get_number(fit.model, name) for name in ("parameters", "state_bytes"))
    optimizer = fit.description.get("optimizer")
    return _join(
        fit.model.get("name"),
        parameters and f"{format_number(parameters, 4)} parameters",
        state and f"{format_number(state)}B with the optimizer{f' ({optimizer})' if optimizer else ''}",
        fit.model.get("dtype_policy"),
    )


def _describe_input(fit: FitRecord) -> str:
    resident = get_number(fit.input, "resident_bytes")
    return _join(fit.input.get("kind"), resident and f"{format_number(resident)}B kept on the devices")


def _join(*parts: Any) -> str:
    return ", ".join(str(part) for part in parts if part)
