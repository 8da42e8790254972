"""Executes the notebook of `examples`. As a command it saves the outputs: `python -m tests.examples.notebook`."""

from __future__ import annotations

import re
from pathlib import Path

import nbclient
import nbformat

PATH = Path(__file__).parents[2] / "examples" / "notebook" / "mnist.ipynb"


def read_notebook() -> nbformat.NotebookNode:
    return nbformat.read(PATH, as_version=4)


def execute_notebook(folder: str) -> nbformat.NotebookNode:
    """The notebook with new outputs, from a kernel of its own."""
    notebook = read_notebook()
    resources = {"metadata": {"path": folder}}
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3", resources=resources).execute()
    return notebook


def printed_text(cell: nbformat.NotebookNode) -> str:
    """What a cell shows as text, progress bars in their last states."""
    outputs = cell.get("outputs", [])
    stream = "".join(output["text"] for output in outputs if output["output_type"] == "stream")
    lines = [re.split(r"[\r\x08]+", line)[-1] for line in stream.split("\n")]
    results = [output["data"].get("text/plain", "") for output in outputs if "data" in output]
    return "\n".join([*lines, *results])


def shown_images(cell: nbformat.NotebookNode) -> list[str]:
    return [
        output["data"]["image/svg+xml"]
        for output in cell.get("outputs", [])
        if "image/svg+xml" in output.get("data", {})
    ]


def save_outputs() -> None:
    notebook = execute_notebook(str(PATH.parent))
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of this machine
        if any(output["output_type"] == "stream" for output in cell.get("outputs", [])):
            cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=printed_text(cell))]
    nbformat.write(notebook, PATH)


if __name__ == "__main__":
    save_outputs()
