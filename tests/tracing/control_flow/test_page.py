"""The examples in the docstrings, and on the page about control flow, run as printed."""

import importlib
import importlib.util
import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[3] / "docs" / "control-flow.md"


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    example = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    file = tmp_path / "page.py"
    file.write_text(example[1])
    spec = importlib.util.spec_from_file_location("page", file)
    assert spec is not None
    assert spec.loader is not None
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    x = np.array([1.0, -2.0, 3.0, 5.0, 1.0], "float32")
    for n, expected in ((5, 1.0), (11, -1.0), (0, 0.25)):
        assert float(page.clipped_sum(x, np.int32(n))) == expected
    assert float(page.best) == 4.0
