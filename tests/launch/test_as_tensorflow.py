"""`--as-tensorflow`: what scripts import, with small packages instead of Unisono and Keras. No JAX here."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from unisono_launch.as_tensorflow import FOLDER
from unisono_launch.launch._arguments import parse

from .conftest import environment

pytestmark = pytest.mark.timeout(60)

Python = Callable[..., str]

PACKAGES = {
    "keras/__init__.py": "import os\nBACKEND = os.environ.get('KERAS_BACKEND')\n",
    "keras/layers/__init__.py": "class Dense: pass\n",
    "keras/applications/__init__.py": "",
    "keras/applications/resnet.py": "class ResNet50: pass\n",
    "unisono/__init__.py": "import keras\n",
    "unisono/tf/__init__.py": """
        from unisono.tf import compat, keras, math
        __version__ = "2.21.0"
        def __getattr__(name):
            raise AttributeError(f"tf.{name} is not available")
    """,
    "unisono/tf/_missing.py": "def describe_missing_name(name): return f'{name} is missing, use tf.math'\n",
    "unisono/tf/math.py": "from unisono.tf import _private\ndef add(a, b): return a + b\n",
    "unisono/tf/_private.py": "",
    "unisono/tf/_api.py": "import unisono.tf as v2\n",
    "unisono/tf/python/__init__.py": "",
    "unisono/tf/python/ops.py": "def add(a, b): return a + b\n",
    "unisono/tf/data.py": "class Dataset: pass\n",
    "unisono/tf/keras/__init__.py": "import keras.layers, keras.applications\nfrom keras import layers, applications\n",
    "unisono/tf/compat/__init__.py": "import unisono.tf as v2\nfrom unisono.tf.compat import v1\n",
    "unisono/tf/compat/v1.py": "from unisono.tf import keras\n",
    "unisono/tfds/__init__.py": "def load(name): return name\n",
}


def write(folder: Path, packages: dict[str, str]) -> None:
    for name, text in packages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


@pytest.fixture
def python(tmp_path: Path) -> Python:
    """Runs code in a new Python that was started as a script of `--as-tensorflow` would start it."""
    write(tmp_path / "packages", PACKAGES)

    def python(code: str, *more_folders: Path, **variables: str) -> str:
        path = os.pathsep.join(map(str, (FOLDER, *more_folders, tmp_path / "packages")))
        result = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            env=environment() | {"PYTHONPATH": path} | variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert result.returncode == 0, result.stderr
        assert result.stderr == ""
        return result.stdout.strip()

    return python


# An import, an expression, and the name of the module that is the same object.
IMPORTS = [
    ("import tensorflow as tf", "tf", "unisono.tf"),
    ("import tensorflow", "tensorflow", "unisono.tf"),
    ("import tensorflow.math", "tensorflow.math", "unisono.tf.math"),
    ("import tensorflow.math as m", "m", "unisono.tf.math"),
    ("from tensorflow import math", "math", "unisono.tf.math"),
    ("from tensorflow import data", "data", "unisono.tf.data"),
    ("import tensorflow.data", "tensorflow.data", "unisono.tf.data"),
    ("from tensorflow import keras", "keras", "unisono.tf.keras"),
    ("import tensorflow.keras.layers as L", "L", "keras.layers"),
    ("from tensorflow.keras import layers", "layers", "keras.layers"),
    ("import tensorflow.keras.applications.resnet as r", "r", "keras.applications.resnet"),
    ("from tensorflow.keras.applications import resnet", "resnet", "keras.applications.resnet"),
    ("import tensorflow.compat.v2 as tf", "tf", "unisono.tf"),
    ("import tensorflow.compat.v2.keras.layers as L", "L", "keras.layers"),
    ("import tensorflow.compat.v1 as tf", "tf", "unisono.tf.compat.v1"),
    ("import tensorflow.compat.v1.keras.layers as L", "L", "keras.layers"),
    ("import importlib; m = importlib.import_module('tensorflow.keras')", "m", "unisono.tf.keras"),
    ("import tensorflow_datasets as tfds", "tfds", "unisono.tfds"),
    ("from tensorflow._api.v2 import math", "math", "unisono.tf.math"),
    ("from tensorflow.python import ops", "ops", "unisono.tf.python.ops"),
    ("import tensorflow.python.ops as ops", "ops", "unisono.tf.python.ops"),
]


def test_every_form_of_import_gives_the_same_module_objects(python: Python) -> None:
    """Each in its own process, as the first import; but one process starts them all, by fork."""
    code = f"""
        import importlib, os
        for statement, expression, name in {IMPORTS!r}:
            child = os.fork()
            if not child:
                exec(statement)
                module = importlib.import_module(name)
                assert eval(expression) is module, (statement, eval(expression))
                assert module.__name__ == module.__spec__.name == name, (statement, module.__spec__)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0, statement
        print("all")
    """
    assert python(code) == "all"


def test_names_come_through_modules_at_any_depth(python: Python) -> None:
    code = """
        from tensorflow.keras.layers import Dense
        from tensorflow.keras.applications.resnet import ResNet50
        from tensorflow.math import add
        from tensorflow.data import Dataset
        import keras, sys, tensorflow
        print(Dense is keras.layers.Dense, add(1, 2), sys.modules["tensorflow.keras.layers"] is keras.layers)
        importlib = __import__("importlib")
        print(importlib.reload(tensorflow.math) is sys.modules["unisono.tf.math"])
    """
    assert python(code) == "True 3 True\nTrue"


def test_nothing_is_imported_before_a_script_asks_for_it(python: Python) -> None:
    code = """
        import importlib.util, sys
        found = [importlib.util.find_spec(name).name for name in ("tensorflow", "tensorflow_datasets", "keras")]
        print(found, sorted({"unisono", "keras", "tensorflow"} & set(sys.modules)))
    """
    assert python(code) == "['tensorflow', 'tensorflow_datasets', 'keras'] []"


def test_to_ask_for_what_is_not_there_is_no_error(python: Python) -> None:
    code = """
        import importlib.util
        names = "tensorflow.tools", "tensorflow.estimator", "tensorflow_datasets.core", "tensorflow._private"
        for spec in map(importlib.util.find_spec, names):
            try:
                importlib.import_module(spec.name)
            except ModuleNotFoundError as error:
                print(error.name, error.name.replace("tensorflow.", "tf.") in str(error))
    """
    names = "tensorflow.tools", "tensorflow.estimator", "tensorflow_datasets.core", "tensorflow._private"
    assert python(code).splitlines() == [f"{name} True" for name in names]


@pytest.mark.parametrize("backend", ["tensorflow", "torch", "jax", ""])
@pytest.mark.parametrize("first", ["tensorflow", "keras", "keras.layers", "tensorflow_datasets", "unisono"])
def test_keras_runs_on_jax_with_the_hooks_in_it(python: Python, backend: str, first: str) -> None:
    code = f"""
        import os, sys
        os.environ["KERAS_BACKEND"] = {backend!r}
        import {first}
        import keras
        print(keras.BACKEND, os.environ["KERAS_BACKEND"], "unisono" in sys.modules, keras.__spec__.name)
    """
    if first == "tensorflow_datasets":  # the small one imports nothing
        code = code.replace("import keras\n", "import tensorflow, keras\n")
    assert python(code, KERAS_BACKEND=backend) == "jax jax True keras"


def test_stock_keras_alone_brings_the_namespace(python: Python) -> None:
    assert python("import keras, sys; print('unisono.tf' in sys.modules)") == "True"


@pytest.mark.parametrize(
    ("statement", "name", "text"),
    [
        ("import tensorflow.estimator", "tensorflow.estimator", "tf.estimator is missing, use tf.math"),
        ("import tensorflow.estimator.export", "tensorflow.estimator", "tf.estimator is missing"),
        ("import tensorflow.math.special", "tensorflow.math.special", "tf.math.special is missing"),
        ("import tensorflow.keras.layers.x", "tensorflow.keras.layers.x", "tf.keras.layers.x is missing"),
        ("import tensorflow.tools.graph_transforms", "tensorflow.tools", "tf.tools is missing"),
        ("import tensorflow.python.tools", "tensorflow.python.tools", "tf.python.tools is missing"),
        ("import tensorflow._private", "tensorflow._private", "tf._private is missing"),
        ("import tf_keras", "tf_keras", "Write `from tensorflow import keras` instead"),
        ("import tensorflow_addons as tfa", "tensorflow_addons", "on which this package cannot run"),
        ("import tensorflow_hub", "tensorflow_hub", "tensorflow_hub is missing"),
        ("from tensorflow_text import x", "tensorflow_text", "tensorflow_text is missing"),
        ("import tensorflow_probability as tfp", "tensorflow_probability", "tensorflow_probability is missing"),
        ("import tensorflow_datasets.core", "tensorflow_datasets.core", "this tensorflow_datasets is Unisono's"),
    ],
)
def test_what_is_not_there_says_so(python: Python, statement: str, name: str, text: str) -> None:
    code = f"""
        try:
            {statement}
        except ModuleNotFoundError as error:
            print(error.name, error)
    """
    found = python(code)
    assert found.startswith(f"{name} ")
    assert text in found


def test_packages_that_need_tensorflow_are_refused_even_if_they_are_installed(python: Python, tmp_path: Path) -> None:
    write(
        tmp_path / "real",
        {"tensorflow_addons/__init__.py": "raise AssertionError", "tf_slim.py": "raise AssertionError"},
    )
    code = """
        for name in ("tensorflow_addons", "tf_slim"):
            try:
                __import__(name)
            except ModuleNotFoundError as error:
                print(error.name, "even if it is installed" in str(error))
    """
    assert python(code, tmp_path / "real") == "tensorflow_addons True\ntf_slim True"


def test_the_part_of_tensorflow_probability_for_jax_works_if_it_is_installed(python: Python, tmp_path: Path) -> None:
    packages = {
        "tensorflow_probability/__init__.py": "from tensorflow_probability.python.version import __version__",
        "tensorflow_probability/python/__init__.py": "",
        "tensorflow_probability/python/version.py": "__version__ = '0.25'",
        "tensorflow_probability/python/distributions/__init__.py": "raise AssertionError",
        "tensorflow_probability/substrates/__init__.py": "",
        "tensorflow_probability/substrates/jax.py": "name = 'jax'",
    }
    write(tmp_path / "real", packages)
    code = """
        from tensorflow_probability.substrates import jax as tfp
        print(tfp.name)
        try:
            import tensorflow_probability.python.distributions
        except ModuleNotFoundError as error:
            print("cannot run" in str(error))
    """
    assert python(code, tmp_path / "real") == "jax\nTrue"


def test_a_tensorflow_that_is_installed_loses(python: Python, tmp_path: Path) -> None:
    write(tmp_path / "real", {"tensorflow/__init__.py": "raise AssertionError", "tensorflow/keras.py": ""})
    write(tmp_path, {"tensorflow.py": "raise AssertionError"})  # beside the script
    code = "import tensorflow.keras; print(tensorflow.__name__, tensorflow.keras.__name__)"
    assert python(code, tmp_path / "real") == "unisono.tf unisono.tf.keras"


def test_tensorflow_datasets_itself_wins_if_it_is_installed(python: Python, tmp_path: Path) -> None:
    write(tmp_path / "real", {"tensorflow_datasets/__init__.py": "real = True", "tensorflow_datasets/core.py": ""})
    code = "import tensorflow_datasets.core as core; print(core.__name__, tensorflow_datasets.real)"
    assert python(f"import tensorflow_datasets; {code}", tmp_path / "real") == "tensorflow_datasets.core True"


def test_the_folder_in_which_it_keeps_its_data_is_not_tensorflow_datasets(python: Python, tmp_path: Path) -> None:
    (tmp_path / "tensorflow_datasets" / "mnist").mkdir(parents=True)
    assert python("import tensorflow_datasets as tfds; print(tfds.load('mnist'))") == "mnist"


def test_tensorboard_sees_that_there_is_no_tensorflow(python: Python) -> None:
    assert python("import tensorboard.compat; print(tensorboard.compat.tf.io.__name__)").endswith("tensorflow_stub.io")


def test_the_sitecustomize_of_the_environment_runs_too_and_has_the_name(python: Python, tmp_path: Path) -> None:
    write(tmp_path / "own", {"sitecustomize.py": "import sys; sys.seen = sys.meta_path[0]; mine = 1"})
    code = "import sys, sitecustomize; print(sitecustomize.mine, type(sys.seen).__name__, sitecustomize.__file__)"
    assert python(code, tmp_path / "own") == f"1 TensorFlowFinder {tmp_path}/own/sitecustomize.py"


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="no virtual environment: there is no other Python")
def test_a_python_that_has_no_unisono_is_left_alone(tmp_path: Path) -> None:
    """As one of another environment, which the script starts."""
    write(tmp_path / "real", {"tensorflow.py": "real = True"})
    result = subprocess.run(
        [os.path.realpath(sys.executable), "-c", "import tensorflow; print(tensorflow.real)"],
        env={"PYTHONPATH": os.pathsep.join((FOLDER, str(tmp_path / "real")))},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (result.stdout, result.stderr) == ("True\n", "")


def test_the_flag_is_one_of_the_options(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.touch()
    assert parse(["--as-tensorflow", str(script)]).as_tensorflow
    assert parse(["--as_tensorflow", str(script)]).as_tensorflow
    assert not parse([str(script)]).as_tensorflow


SAY_WHAT = """
    import json, subprocess
    code = "import tensorflow as tf; print(tf.__name__)"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    import tensorflow as tf
    Path(f"found-{rank}-{attempt}").write_text(json.dumps([tf.__name__, child, os.environ["PYTHONPATH"]]))
"""


def found(folder: Path, rank: int, attempt: int = 0) -> list[str]:
    words = json.loads((folder / f"found-{rank}-{attempt}").read_text())
    assert isinstance(words, list)
    return words


def test_workers_and_what_they_start_run_as_tensorflow(run, tmp_path):
    write(tmp_path / "packages", PACKAGES)
    own = os.pathsep.join((str(tmp_path / "packages"), "/nowhere"))
    code, _, err = run(SAY_WHAT, "-n", "2", "--as-tensorflow", env={"PYTHONPATH": own})
    assert code == 0, err
    for rank in (0, 1):
        assert found(tmp_path, rank) == ["unisono.tf", "unisono.tf", os.pathsep.join((FOLDER, own))]


@pytest.mark.slow
def test_it_holds_after_a_restart_and_for_modules(start, command, tmp_path):
    write(tmp_path / "packages", PACKAGES)
    path = {"PYTHONPATH": str(tmp_path / "packages")}
    script = SAY_WHAT + "    if attempt == 0: sys.exit(1)\n"
    code, _, err = start(script, "--as-tensorflow", "--max-restarts", "1", env=path).finish()
    assert code == 0, err
    assert found(tmp_path, 0, 1)[:2] == ["unisono.tf", "unisono.tf"]
    (tmp_path / "module.py").write_text("import tensorflow; print(tensorflow.__name__)")
    assert command("run", "--as-tensorflow", "-m", "module", env=path)[1].endswith("unisono.tf\n")


@pytest.mark.slow
def test_without_the_flag_nothing_is_changed(run, tmp_path):
    code, _, _ = run("Path('found').write_text(os.environ['PYTHONPATH'])", env={"PYTHONPATH": "/nowhere"})
    assert code == 0
    assert (tmp_path / "found").read_text() == "/nowhere"
