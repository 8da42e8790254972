"""What is said of names that are not there."""

from __future__ import annotations

import re
import types
from pathlib import Path

import pytest

import unisono.tf as tf
from unisono._src.tf_check._name_resolution import refusal_reason, resolve
from unisono.tf._missing import (
    MissingImportError,
    MissingNameError,
    describe_missing_name,
    explain_missing_names,
)
from unisono.tf._missing_names import MISSING_NAMES, MISSING_PACKAGES, NEED_OTHER_PACKAGES
from unisono_launch.as_tensorflow._packages import NEED_TENSORFLOW

NAMES = re.compile(r"\btf(?:\.[A-Za-z_]\w*)+")


def test_a_name_with_a_sentence_fails_with_the_name_the_sentence_and_the_page() -> None:
    with pytest.raises(AttributeError, match=r"^tf\.estimator is not available: .*model\.fit.* See docs/tf\.md\.$"):
        _ = tf.estimator


def test_a_misspelt_name_fails_with_similar_names() -> None:
    with pytest.raises(MissingNameError, match=r"tf\.constnt is not available: .*no such name either.*tf\.constant\."):
        _ = tf.constnt


def test_a_name_of_tensorflow_that_is_left_out_says_so() -> None:
    said = describe_missing_name("tf.config.experimental.get_device_policy")
    assert said.startswith("tf.config.experimental.get_device_policy is not available: Unisono leaves it out; ")


def test_a_name_that_tensorflow_2_moved_tells_the_new_one() -> None:
    assert (
        describe_missing_name("tf.log") == "tf.log is not available: TensorFlow 2 calls it tf.math.log. See docs/tf.md."
    )
    assert "TensorFlow 2 calls it tf.math.log" in describe_missing_name("tf.compat.v1.log")


def test_what_holds_for_a_module_holds_for_all_that_is_in_it() -> None:
    assert "model.fit" in describe_missing_name("tf.estimator.tpu.TPUEstimator")
    assert "model.fit" in describe_missing_name("tf.compat.v1.estimator.inputs.numpy_input_fn")


def test_from_import_says_the_same_and_not_only_the_name() -> None:
    with pytest.raises(MissingImportError, match=r"tf\.estimator is not available: .*model\.fit"):
        from unisono.tf import estimator  # noqa: F401
    with pytest.raises(ImportError, match=r"tf\.dtypes\.flot32 is not available: .*tf\.dtypes\.float32"):
        from unisono.tf.dtypes import flot32  # noqa: F401


def test_hasattr_is_false_and_getattr_takes_a_default() -> None:
    assert not hasattr(tf, "estimator")
    assert getattr(tf, "Session", None) is None or refusal_reason(tf.Session)


def test_what_python_asks_modules_for_is_an_ordinary_attribute_error() -> None:
    module = types.ModuleType("example")
    vars(module)["__getattr__"] = explain_missing_names("tf.example")
    with pytest.raises(AttributeError, match=r"^module 'tf\.example' has no attribute '__path__'$"):
        _ = module.__path__


def test_no_name_of_the_table_exists() -> None:
    existing = [name for name in MISSING_NAMES if _exists(name)]
    assert not existing, "take them out of _missing_names.py"


def test_recommended_names_exist() -> None:
    wrong = {}
    for name, sentence in (MISSING_NAMES | MISSING_PACKAGES | NEED_OTHER_PACKAGES).items():
        assert sentence.endswith("."), sentence
        recommended = [each for each in NAMES.findall(sentence) if each != "tf.contrib"]
        wrong[name] = [each for each in recommended if not _exists(each)]
    assert not {name: names for name, names in wrong.items() if names}


def test_the_launcher_refuses_the_packages_that_have_advice() -> None:
    assert MISSING_PACKAGES.keys() - NEED_TENSORFLOW == {"tf_keras"}  # which the launcher explains itself
    assert MISSING_PACKAGES.keys() >= NEED_TENSORFLOW


def test_what_needs_more_than_keras_fails(tmp_path: Path) -> None:
    arguments = {
        "tf.keras.callbacks.OrbaxCheckpoint": (str(tmp_path),),
        "tf.keras.layers.TFSMLayer": (str(tmp_path),),
    }
    assert set(arguments) == set(NEED_OTHER_PACKAGES)
    for name, values in arguments.items():
        with pytest.raises((ImportError, NotImplementedError, AttributeError)):  # whatever Keras says of it
            resolve(name)(*values)


def _exists(name: str) -> bool:
    try:
        return refusal_reason(resolve(name)) is None
    except MissingNameError:
        return False
