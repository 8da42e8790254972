"""`unisono tf-check` reads scripts and notebooks, and says what becomes of the names in them."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from unisono._src.cli._tf_check import tf_check
from unisono._src.tf_check._script_reader import NameUse, find_name_uses
from unisono._src.tf_check._verdicts import assess_name, assess_use


def uses(code: str) -> list[NameUse]:
    return find_name_uses(ast.parse(textwrap.dedent(code)))


def names(code: str) -> list[str]:
    return list(dict.fromkeys(use.name for use in uses(code)))


@pytest.mark.parametrize(
    ("imports", "used", "name"),
    [
        ("import tensorflow as tf", "tf.keras.layers.Dense(1)", "tf.keras.layers.Dense"),
        ("import tensorflow", "tensorflow.constant(1)", "tf.constant"),
        ("import tensorflow.compat.v2 as tf", "tf.constant(1)", "tf.constant"),
        ("import tensorflow.compat.v1 as tf1", "tf1.placeholder(1)", "tf.compat.v1.placeholder"),
        ("import tensorflow.keras.backend as K", "K.epsilon()", "tf.keras.backend.epsilon"),
        ("from tensorflow import keras", "keras.layers.Dense(1)", "tf.keras.layers.Dense"),
        ("from tensorflow.keras import layers", "layers.Dense(1)", "tf.keras.layers.Dense"),
        ("from tensorflow.keras.layers import Dense as D", "D(1)", "tf.keras.layers.Dense"),
        ("from tensorflow.keras.layers import *", "Dense(1)", "tf.keras.layers.Dense"),
        ("import unisono.tf as tf", "tf.constant(1)", "tf.constant"),
        ("import unisono.tf", "unisono.tf.constant(1)", "tf.constant"),
        ("from unisono import tf", "tf.constant(1)", "tf.constant"),
        ("import keras", "keras.layers.Dense(1)", "keras.layers.Dense"),
        ("import tensorflow_datasets as tfds", "tfds.load('mnist')", "tfds.load"),
    ],
)
def test_a_name_is_found_however_it_was_imported(imports: str, used: str, name: str) -> None:
    assert NameUse(name, 2) in uses(f"{imports}\n{used}")


def test_fields_of_messages_are_members() -> None:
    assert assess_name("tf.train.Example.features").status == "supported"
    assert assess_name("tf.train.Example.FromString").status == "supported"
    assert assess_name("tf.train.Example.nothing").status == "missing"


def test_methods_are_those_of_the_class_that_was_assigned() -> None:
    found = names("""
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            data, other = tf.data.Dataset.range(4).batch(2), 3
        data.repeat()
        with tf.GradientTape() as tape:
            pass
        for each in (tf.distribute.OneDeviceStrategy("cpu:0"), strategy):
            each.run(print)
        tape.gradient(1, 2)
        other.anything()
    """)
    assert "tf.distribute.MirroredStrategy.scope" in found
    assert {"tf.data.Dataset.range", "tf.data.Dataset.batch", "tf.data.Dataset.repeat"} <= set(found)
    assert found[-2:] == ["tf.distribute.OneDeviceStrategy.run", "tf.GradientTape.gradient"]


def test_methods_are_found_through_functions_and_attributes_of_the_script() -> None:
    found = names("""
        import tensorflow as tf

        def use():
            return make().scope()

        def make():
            return tf.distribute.MirroredStrategy()

        class Trainer:
            def __init__(self):
                self.strategy = make()

            def step(self):
                return self.strategy.run(print)
    """)
    assert "tf.distribute.MirroredStrategy.scope" in found
    assert "tf.distribute.MirroredStrategy.run" in found


def test_methods_are_found_on_what_functions_of_the_script_are_called_with() -> None:
    found = names("""
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()

        def batches(context):
            return tf.data.Dataset.range(4).batch(context.get_per_replica_batch_size(2))

        strategy.distribute_datasets_from_function(batches)
        strategy.experimental_distribute_values_from_function(lambda context: context.replica_id_in_sync_group)
        tf.distribute.get_replica_context().all_reduce("sum", 1)
    """)
    assert "tf.distribute.InputContext.get_per_replica_batch_size" in found
    assert "tf.distribute.experimental.ValueContext.replica_id_in_sync_group" in found
    assert "tf.distribute.ReplicaContext.all_reduce" in found


def test_a_name_that_is_assigned_again_is_forgotten() -> None:
    assert names("import tensorflow as tf\ntf = 3\ntf.constant") == []
    assert names("import tensorflow as tf\ndef f(tf):\n    return tf.constant") == []
    assert names("import tensorflow as tf\n[tf.constant for tf in ()]") == []


@pytest.mark.slow
def test_members_of_the_scripts_own_classes_are_not_called_missing() -> None:
    found = uses("""
        import tensorflow as tf

        class Net(tf.keras.Model):
            def compile(self, generator):
                pass

            def train_step(self, data):
                return self.encode(data)

        Net().my_own_method()
        Net().compile(generator="sgd")
    """)
    assert {use.name for use in found} >= {"tf.keras.Model", "tf.keras.Model.train_step"}
    assert not [each for use in found for each in assess_use(use) if each.status == "missing"]


def test_a_name_after_a_value_is_not_a_name_of_the_namespace() -> None:
    assert names("import tensorflow as tf\ntf.__version__.split('.')") == ["tf.__version__"]


def test_keyword_arguments_that_are_not_taken_are_listed() -> None:
    (use,) = [use for use in uses("import tensorflow as tf\ntf.constant(1, dtyp='int32')") if use.keywords]
    ordinary, unknown = assess_use(use)
    assert ordinary.status == "supported"
    assert (unknown.name, unknown.status) == ("tf.constant(dtyp=)", "missing")
    assert "The nearest is dtype=" in unknown.text


def test_a_difference_is_found_by_any_name_of_the_object() -> None:
    assert assess_name("tf.int64").status == "differs"
    assert assess_name("tf.dtypes.int64").text == assess_name("tf.int64").text


def test_classes_that_refuse_to_be_made_are_missing() -> None:
    assert assess_name("tf.distribute.experimental.rpc.Client").status == "missing"
    assert "ClusterCoordinator" in assess_name("tf.distribute.experimental.rpc.Server").text
    assert assess_name("tf.distribute.ParameterServerStrategy").status == "supported"


def test_a_misspelt_method_is_missing_and_an_attribute_of_instances_is_not() -> None:
    assert "tf.data.Dataset.prefetch" in assess_name("tf.data.Dataset.prefech").text
    assert assess_name("tf.keras.Model.optimizer").status == "supported"


def test_members_of_a_class_that_makes_objects_of_another_are_those_of_the_other() -> None:
    assert assess_name("tf.train.CheckpointManager.latest_checkpoint").status == "supported"


def test_the_command_prints_a_table_and_returns_1_if_something_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("import tensorflow as tf\nx = tf.constant(1)\n")
    bad.write_text("import tensorflow as tf\nimport tensorflow_hub\nx = tf.constant(1)\ntf.estimator.Estimator()\n")
    assert tf_check([str(good)]) == 0
    assert "1 supported, 0 different, 0 missing." in capsys.readouterr().out
    assert tf_check([str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "bad.py: 1 supported, 0 different, 2 missing. See docs/tf.md." in printed
    assert "good.py: 1 supported" in printed
    assert "tf.estimator.Estimator" in printed


def test_notebooks_are_read_without_their_shell_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["tf.nothing"]},
        {"cell_type": "code", "source": ["!pip install x\n", "import tensorflow as tf\n", "files = !ls\n"]},
        {"cell_type": "code", "source": "%%bash\necho (\n"},
        {"cell_type": "code", "source": "print('%d'\n      %(3))"},
        {"cell_type": "code", "source": "if files:\n    %cd x\ntf.Session()"},
        {"cell_type": "code", "source": "%%writefile main.py\nimport tensorflow as tf\ntf.lite.Interpreter()"},
    ]
    notebook = tmp_path / "n.ipynb"
    notebook.write_text(json.dumps({"cells": cells}))
    assert tf_check([str(notebook)]) == 1
    printed = capsys.readouterr().out
    assert "cell 5:3" in printed
    assert "n.ipynb (main.py)" in printed
    assert "cell 6:3" in printed
    assert "tf.nothing" not in printed


def test_a_file_that_is_not_python_is_named_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.py").write_text("import tensorflow as tf\nprint 'x'\n")
    assert tf_check([str(tmp_path / "old.py")]) == 1
    assert "old.py, line 2: this is Python 2" in capsys.readouterr().out.replace("\n", " ")
    (tmp_path / "wrong.py").write_text("x = (1,\n")
    assert tf_check([str(tmp_path / "wrong.py")]) == 1
    assert "wrong.py, line 1:" in capsys.readouterr().out.replace("\n", " ")
    (tmp_path / "zero.py").write_text("import tensorflow as tf\ntf.zeros(1)\n")
    tf_check([str(tmp_path)])
    assert "zero.py: " in capsys.readouterr().out  # the files after it are read
    (tmp_path / "wrong.ipynb").write_text("[]")
    assert tf_check([str(tmp_path / "wrong.ipynb")]) == 1
    assert "is not a notebook" in capsys.readouterr().out.replace("\n", " ")


def test_strange_scripts_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "latin.py"
    script.write_bytes(
        b"# -*- coding: latin-1 -*-\nfrom tensorflow.contrib.layers import *\nfrom tensorflow.python.ops import x\n"
        b"from unisono import *\ndef f(): pass\niter(f)\npattern = '\\d \xe9'\nfrom . import y\n"
    )
    assert tf_check([str(script)]) == 1
    assert "0 supported, 0 different, 2 missing" in capsys.readouterr().out
    (tmp_path / "binary.py").write_bytes(b"x = 1\0")
    assert tf_check([str(tmp_path / "binary.py")]) == 1
    assert "null byte" in capsys.readouterr().out


def test_a_path_that_is_not_there_is_an_error_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tf_check(["/nowhere/x.py"])
    assert "/nowhere/x.py: no such file or folder." in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_runs_nothing_of_the_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import tensorflow as tf\nprint('it ran')\nraise SystemExit(7)\n")
    command = [sys.executable, "-m", "unisono_launch", "tf-check", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "it ran" not in done.stdout


def test_attributes_that_only_objects_have_are_known() -> None:
    for name in ("inputs", "outputs", "output_names", "history", "optimizer", "loss", "metrics_names", "stop_training"):
        assert assess_name(f"tf.keras.Model.{name}").status == "supported", name
    assert assess_name("tf.keras.Sequential.history").status == "supported"
    assert assess_name("tf.keras.layers.Dense.kernel").status == "supported"
    assert assess_name("tf.keras.optimizers.Adam.beta_1").status == "supported"
    assert assess_name("tf.keras.Model.no_such_thing").status == "missing"
