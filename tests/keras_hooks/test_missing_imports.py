from __future__ import annotations

import sys
from pathlib import Path

import keras.src
import pytest
from keras.src.backend import common

from .missing_imports import replace_missing_imports


def test_names_and_modules_that_keras_lacks_are_listed_and_replaced(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "module.py").write_text(
        "from keras.src import backend\n"
        "from keras.src.backend.common import nothing_of_this_name\n"
        "from keras.src.no_such_module import Thing\n"
        "from keras import Model\n"
    )
    try:
        assert replace_missing_imports(package) == [
            "package/module.py imports keras.src.backend.common.nothing_of_this_name, which does not exist.",
            "package/module.py imports keras.src.no_such_module.Thing, which does not exist.",
        ]
        assert replace_missing_imports(package) == []
    finally:
        del common.nothing_of_this_name, keras.src.no_such_module, sys.modules["keras.src.no_such_module"]


def test_a_module_of_keras_that_needs_another_library_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needs_library.py").write_text("import no_such_library\n")
    (tmp_path / "module.py").write_text("from keras.src.needs_library import Thing\n")
    monkeypatch.setattr(keras.src, "__path__", [*keras.src.__path__, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        replace_missing_imports(tmp_path)
