"""The README's example runs as printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_first_example_of_the_readme_runs_in_a_fresh_process(tmp_path: Path) -> None:
    example = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert example is not None
    data = "import numpy as np\nx, y = np.random.rand(300, 20), np.random.randint(0, 10, 300)\n"
    ours = ("KERAS_BACKEND", "UNISONO_CPU_DEVICES", "NPROC")
    environment = {name: value for name, value in os.environ.items() if name not in ours} | {"HOME": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-c", data + example[1]], env=environment, capture_output=True, text=True, timeout=240
    )
    assert result.returncode == 0, result.stderr[-2000:]
    assert "Epoch 10/10" in result.stdout
