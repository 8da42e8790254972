"""Variables that are not found by the names of layers are found by the attributes that lead to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from unisono._src.state.checkpoint._attributes import variable_names_by_attribute
from unisono.checkpoint import Checkpoint, CheckpointMismatch

pytestmark = pytest.mark.slow


class Net(keras.Model):
    """Two layers of equal shapes, whose names may be given, and whose attributes are not their names."""

    def __init__(self, **names: str) -> None:
        super().__init__()
        self.l1 = keras.layers.Dense(3, name=names.get("l1"))
        self.dense = keras.layers.Dense(3, name=names.get("dense"))
        self.more = {"drop": [keras.layers.Dropout(0.5)]}
        self(np.zeros((1, 3)))
        for layer in (self.l1, self.dense):
            layer.kernel.assign(np.random.default_rng().normal(size=(3, 3)))

    def call(self, x: Any) -> Any:
        return self.more["drop"][0](self.dense(self.l1(x)))


def spelled(**inside: Any) -> Checkpoint:
    return Checkpoint(net=Checkpoint(**{name: Checkpoint(**thing) for name, thing in inside.items()}))


def test_attributes_lead_to_variables_also_in_containers() -> None:
    assert variable_names_by_attribute({"net": Net()}) == {
        "net/l1/kernel": "net/dense/kernel",
        "net/l1/bias": "net/dense/bias",
        "net/dense/kernel": "net/dense_1/kernel",
        "net/dense/bias": "net/dense_1/bias",
        "net/more/drop/0/seed_generator/state": "net/seed_generator/seed_generator_state",
    }


def test_an_object_that_holds_itself_is_looked_into_once() -> None:
    net = Net()
    object.__setattr__(net, "again", [net, {"net": net}])
    assert len(variable_names_by_attribute({"net": net})) == 5


def test_a_part_is_restored_that_is_spelled_by_attributes(tmp_path: Path) -> None:
    net = Net()
    path = Checkpoint(net=net).save(tmp_path / "ckpt")
    first, second = keras.Variable(np.zeros((3, 3))), keras.Variable(np.zeros((3, 3)))
    status = spelled(l1={"kernel": first}, dense={"kernel": second}).restore(path).expect_partial()
    status.assert_existing_objects_matched()
    assert np.array_equal(first, net.l1.kernel)
    assert np.array_equal(second, net.dense.kernel)  # not that of the layer which is called "dense"


def test_layers_may_be_called_otherwise_now(tmp_path: Path) -> None:
    net, new = Net(l1="a", dense="b"), Net(l1="first", dense="second")
    Checkpoint(net=new).restore(Checkpoint(net=net).save(tmp_path / "ckpt")).assert_consumed()
    assert np.array_equal(net.l1.kernel, new.l1.kernel)
    assert np.array_equal(net.dense.kernel, new.dense.kernel)


def test_a_name_that_fits_is_not_looked_for_by_attributes(tmp_path: Path) -> None:
    net, new = Net(l1="a", dense="b"), Net(l1="b", dense="a")
    Checkpoint(net=new).restore(Checkpoint(net=net).save(tmp_path / "ckpt")).assert_consumed()
    assert np.array_equal(net.l1.kernel, new.dense.kernel)


def test_a_value_goes_to_one_variable_only(tmp_path: Path) -> None:
    net, new = Net(l1="a", dense="b"), Net(l1="other", dense="a")
    with pytest.raises(CheckpointMismatch, match="without a value in it: net/other/kernel, net/other/bias"):
        Checkpoint(net=new).restore(Checkpoint(net=net).save(tmp_path / "ckpt"))


def test_another_shape_is_an_error_that_names_the_variable(tmp_path: Path) -> None:
    path = Checkpoint(net=Net()).save(tmp_path / "ckpt")
    with pytest.raises(CheckpointMismatch, match=r"net/l1/kernel has the shape \(2,\) here and \(3, 3\)"):
        spelled(l1={"kernel": keras.Variable(np.zeros(2))}).restore(path, strict=False)


def test_a_variable_in_several_containers_is_found_by_each_of_their_names(tmp_path: Path) -> None:
    one, two = keras.Variable(1.0), keras.Variable(2.0)
    path = Checkpoint(listed=[one, two], mapped={"one": one, "two": two}).save(tmp_path / "ckpt")
    found = keras.Variable(0.0)
    Checkpoint(mapped={"two": found}).restore(path).expect_partial()
    assert float(found) == 2.0
