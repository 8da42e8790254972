"""`--names-used=FILE` records which names of TensorFlow the passed tests use, for docs/tf-coverage.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tf._names_used import names_used

OPTION = "--names-used"

# Modules that take seconds. test_recorded_* cannot be marked in their files, which also run without pytest.
SLOW = (
    "test_backend",
    "test_bounding_boxes",
    "test_compat_v1",
    "test_compiled_trainable",
    "test_config",
    "test_distribute",
    "test_docstring_examples",
    "test_experimental_numpy",
    "test_explicit_training",
    "test_extension_types",
    "test_h5_models",
    "test_image",
    "test_layers",
    "test_lookup",
    "test_losses_and_metrics",
    "test_models",
    "test_named_weights",
    "test_old_building",
    "test_old_calls",
    "test_optimizers",
    "test_ragged",
    "test_random",
    "test_run_control_flow",
    "test_saved_model",
    "test_sparse",
    "test_stock_keras",
    "test_symbolic",
    "test_text_models",
    "test_train",
    "test_variable_parts",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, type=Path, help="write the names that each passed test uses to this file, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption(OPTION) is not None:
        config.pluginmanager.register(_Recorder(config.getoption(OPTION)), "names-used")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.path.is_relative_to(Path(__file__).parent):
            continue
        if item.path.parent.name == "guides" or item.path.stem.startswith((*SLOW, "test_recorded")):
            item.add_marker(pytest.mark.slow)


class _Recorder:
    """With pytest-xdist, each process sends what it found to the one that writes the file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.names: dict[str, set[str]] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Any:
        """Records the names. A parametrized test counts if it passed with some parameters and failed with none."""
        report = yield
        name = item.nodeid.partition("[")[0]
        if report.failed:
            self.failed.add(name)
        elif report.when == "call" and report.passed and isinstance(item, pytest.Function):
            parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
            used = names_used(item.path, item.originalname, parameters)
            self.names[name] = self.names.get(name, set()) | used
        return report

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            found = {name: sorted(used) for name, used in self.names.items()}
            session.config.workeroutput[OPTION] = json.dumps([found, sorted(self.failed)])
            return
        passed = {name: sorted(used) for name, used in sorted(self.names.items()) if name not in self.failed}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(passed, indent=1) + "\n", encoding="utf-8")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        found, failed = json.loads(getattr(node, "workeroutput", {}).get(OPTION, "[{}, []]"))
        self.failed.update(failed)
        for name, used in found.items():
            self.names[name] = self.names.get(name, set()) | set(used)
