"""docs/tf-coverage.md, which `make tf-coverage` writes, fits the namespace, and little that users need is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tf._names_used import names_used
from tests.tf.coverage_page import Row, UsedNames, parse_rows, read_name_list, render_page
from unisono._src.tf_check._name_resolution import resolve
from unisono._src.tf_check._verdicts import assess_name
from unisono.tf._missing import MissingNameError

PAGE = Path(__file__).parents[2] / "docs" / "tf-coverage.md"
MAX_MISSING_SHOULDS = 5


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return parse_rows(PAGE.read_text(encoding="utf-8"))


def test_the_page_has_every_name_of_the_lists(rows: list[Row]) -> None:
    names = {
        entry["name"] for file in ("distribute.csv", "tutorials.csv", "methods.csv") for entry in read_name_list(file)
    }
    assert {row.name for row in rows} == names


def test_names_that_work_exist_and_missing_names_do_not(rows: list[Row]) -> None:
    fits = {
        "works": {"supported"},
        "differs": {"differs"},
        "untested": {"supported", "differs"},
        "missing": {"missing"},
    }
    wrong = [row.name for row in rows if assess_name(row.name).status not in fits[row.status]]
    assert not wrong, "type: make tf-coverage"


def test_missing_names_fail_when_they_are_read_or_called(rows: list[Row]) -> None:
    for row in rows:
        if row.status == "missing" and row.name.startswith("tf."):
            with pytest.raises((MissingNameError, NotImplementedError)):
                resolve(row.name)()


def test_no_must_is_missing(rows: list[Row]) -> None:
    assert not [row.name for row in rows if row.facts.startswith("MUST") and row.status == "missing"]


def test_few_shoulds_are_missing(rows: list[Row]) -> None:
    missing = [row.name for row in rows if row.facts == "SHOULD" and row.status == "missing"]
    assert len(missing) <= MAX_MISSING_SHOULDS, missing


def test_every_existing_name_is_used_by_a_test(rows: list[Row]) -> None:
    assert not [row.name for row in rows if row.status == "untested"]


def test_every_missing_name_has_a_sentence(rows: list[Row]) -> None:
    assert not [row.name for row in rows if row.status == "missing" and not row.text.rstrip().endswith(".")]


def test_a_name_works_only_if_a_test_uses_it() -> None:
    none, some = UsedNames([]), UsedNames(["tf.constant", "tf.dtypes.float32", "tf.distribute.MirroredStrategy.run"])
    assert none.status("tf.constant") == ("untested", "")
    assert some.status("tf.constant") == ("works", "")
    assert some.status("tf.float32") == ("works", "")  # the same object
    assert some.status("tf.distribute.Strategy.run") == ("works", "")  # the same method
    assert some.status("tf.distribute.Strategy.reduce") == ("untested", "")
    assert none.status("tf.Session")[0] == "missing"


def test_the_rows_of_a_page_are_parsed() -> None:
    found = parse_rows(render_page(UsedNames(["tf.constant"])))
    assert [row.status for row in found if row.name == "tf.constant"] == ["works"]
    assert len(found) > 500


def test_names_are_found_in_a_test_its_helpers_its_fixtures_and_the_scripts_it_runs(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import tensorflow as tf\ntf.zeros(1)\n")
    (tmp_path / "test_it.py").write_text(
        "import unisono.tf as tf\n"
        "import pytest\n"
        "TABLE = [tf.ones]\n"
        "def helper():\n    return tf.cast\n"
        "def other():\n    return tf.range\n"
        "@pytest.fixture\ndef given():\n    yield tf.distribute.MirroredStrategy()\n"
        "@pytest.mark.parametrize('f', TABLE)\n"
        "def test_a(f, given):\n    given.run(helper())\n    run('script.py')\n"
        "    run('import tensorflow as tf\\ntf.add\\n')\n"
    )
    expected = {"tf.ones", "tf.cast", "tf.zeros", "tf.add", "tf.distribute.MirroredStrategy"}
    expected.add("tf.distribute.MirroredStrategy.run")
    assert names_used(tmp_path / "test_it.py", "test_a") == expected
