"""One name for one thing: no two classes of the source have one name, private or not."""

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import Final

SOURCE = Path(__file__).parents[1] / "src"

_SUBCLASS = "TensorFlow's name for its own form of the class: a subclass in unisono.tf with TensorFlow's arguments"
_TWO_NAMESPACES = "TensorFlow has both, in tf and in tf.compat.v1 or tf.keras, with other members"

# Names that several classes have, and why.
SHARED: Final = {
    "Checkpoint": _SUBCLASS,
    "CheckpointManager": _SUBCLASS,
    "ClusterSpec": _SUBCLASS,
    "Dataset": _SUBCLASS,
    "FixedLenFeature": _SUBCLASS,
    "FixedLengthRecordDataset": _SUBCLASS,
    "ModelCheckpoint": _SUBCLASS,
    "MultiWorkerMirroredStrategy": _SUBCLASS,
    "Optional": _SUBCLASS,
    "OutOfRangeError": _SUBCLASS,
    "Reduction": _TWO_NAMESPACES,
    "ResizeMethod": _TWO_NAMESPACES,
    "TFRecordDataset": _SUBCLASS,
    "TFRecordOptions": _SUBCLASS,
    "TFRecordWriter": _SUBCLASS,
    "TPUStrategy": _SUBCLASS,
    "TensorBoard": _SUBCLASS,
    "TensorSpec": _SUBCLASS,
    "TextLineDataset": _SUBCLASS,
    "Unique": "dataset operations are named after their method; tf.unique returns a named tuple of this name",
    "VarLenFeature": _SUBCLASS,
    "Variable": _TWO_NAMESPACES,
}

_CLASS: Final = re.compile(r"^ *class _*(\w+)", re.MULTILINE)


def _files_by_class() -> dict[str, list[Path]]:
    """The files with a line that looks like a class of the name, a file once for each."""
    files = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for name in _CLASS.findall(path.read_text(encoding="utf-8")):
            files[name].append(path)
    return files


def _lines_of_classes(path: Path, name: str) -> list[str]:
    """Where the file has classes of the name: the parser knows them from the examples of docstrings."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    found = [node for node in nodes if isinstance(node, ast.ClassDef) and node.name.lstrip("_") == name]
    return [f"{path.relative_to(SOURCE)}:{node.lineno}" for node in found]


def test_no_two_classes_have_one_name() -> None:
    """Names that are found: rename one of the classes, or say in SHARED why they share the name."""
    several = {name: set(files) for name, files in _files_by_class().items() if len(files) > 1 and name not in SHARED}
    classes = {
        name: [line for path in files for line in _lines_of_classes(path, name)] for name, files in several.items()
    }
    assert {name: lines for name, lines in classes.items() if len(lines) > 1} == {}


def test_the_names_that_may_be_shared_are_shared() -> None:
    files = _files_by_class()
    assert [name for name in SHARED if len(files[name]) < 2] == []


def test_a_class_with_a_shared_name_is_in_the_tensorflow_namespace() -> None:
    files = _files_by_class()
    outside = {name: [path for path in files[name] if SOURCE / "unisono" / "tf" not in path.parents] for name in SHARED}
    assert {name: paths for name, paths in outside.items() if len(paths) > 1} == {}
