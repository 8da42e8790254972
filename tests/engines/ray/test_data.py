"""`Dataset.from_ray`: Ray Datasets as sources of `unisono.data`, in one process."""

from pathlib import Path

import pytest

from tests.engines.ray.conftest import StartDriver

pytestmark = [pytest.mark.engines, pytest.mark.timeout(400)]


def test_a_ray_dataset_is_a_source(start_driver: StartDriver) -> None:
    driver = start_driver("data.py", environment={"PYTHONPATH": str(Path(__file__).parents[3])})
    assert driver.finish() == 0, driver.output()
    assert "DONE 1000000 rows" in driver.output()
