"""Values of a checkpoint that are restored after `restore`: once their objects are attributes or items."""

import copy
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import keras
import numpy as np
import pytest

import unisono.tf as tf
from unisono.checkpoint import CheckpointMismatch
from unisono.tf._deferred_values import _deferred


class Scale(tf.Module):
    """Creates its variables in its first call."""

    def __init__(self) -> None:
        super().__init__()
        self.factors: list[tf.Variable] = []

    def __call__(self, x: Any) -> Any:
        if not hasattr(self, "w"):
            self.w = tf.Variable(1.0)
            self.factors.append(tf.Variable(1.0))
        return x * self.w * self.factors[0]


@pytest.fixture
def restored(tmp_path: Path) -> Callable[..., tf.train.Checkpoint]:
    """Saves objects, and restores them into a checkpoint that has other ones."""

    def restore(saved: dict[str, Any], **objects: Any) -> tf.train.Checkpoint:
        path = tf.train.Checkpoint(**saved).save(str(tmp_path / "ckpt"))
        checkpoint = tf.train.Checkpoint(**objects)
        checkpoint.restore(path).expect_partial()
        return checkpoint

    return restore


def test_an_attribute_gets_its_value_once(restored: Callable[..., tf.train.Checkpoint]) -> None:
    checkpoint = restored({"w": tf.Variable(5.0)})
    checkpoint.w = tf.Variable(0.0)
    assert checkpoint.w.numpy() == 5.0
    checkpoint.w = tf.Variable(1.0)
    assert checkpoint.w.numpy() == 1.0


def test_the_status_knows_what_is_restored_later(tmp_path: Path) -> None:
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).save(str(tmp_path / "ckpt"))
    checkpoint = tf.train.Checkpoint(a=tf.Variable(0.0))
    status = checkpoint.restore(path)
    with pytest.raises(AssertionError, match="belong to no object: b"):
        status.assert_consumed()
    checkpoint.b = tf.Variable(0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        status.assert_consumed()


def test_an_attribute_of_another_shape_is_an_error(restored: Callable[..., tf.train.Checkpoint]) -> None:
    checkpoint = restored({"w": tf.Variable(5.0)})
    with pytest.raises(CheckpointMismatch, match=r"the variable w has the shape \(2,\) here and \(\) in"):
        checkpoint.w = tf.Variable([0.0, 0.0])


def test_a_number_that_is_set_later_stays(restored: Callable[..., tf.train.Checkpoint]) -> None:
    checkpoint = restored({"epoch": 5})
    checkpoint.epoch = 6
    assert checkpoint.epoch == 6


def test_a_module_that_creates_its_variables_later(restored: Callable[..., tf.train.Checkpoint]) -> None:
    saved, module = Scale(), Scale()
    saved(1.0)
    saved.w.assign(3.0)
    saved.factors[0].assign(5.0)
    checkpoint = restored({"inner": {"module": saved}}, inner={"module": module})
    copied = copy.deepcopy(module)
    assert float(module(2.0)) == 30.0
    assert float(copied(2.0)) == 2.0, "what is copied is another object, which is in no checkpoint"
    assert checkpoint.inner["module"] is module


def test_a_module_that_becomes_an_attribute_later(restored: Callable[..., tf.train.Checkpoint]) -> None:
    saved = Scale()
    saved(1.0)
    saved.w.assign(3.0)
    checkpoint = restored({"module": saved})
    checkpoint.module = Scale()
    assert float(checkpoint.module(2.0)) == 6.0


def test_a_variable_that_is_created_while_a_function_is_traced_is_an_error(
    restored: Callable[..., tf.train.Checkpoint],
) -> None:
    saved, module = Scale(), Scale()
    saved(1.0)
    restored({"module": saved}, module=module)
    with pytest.raises(RuntimeError, match="'module/w' is created while a function is traced"):
        tf.function(module)(tf.constant(1.0))


def test_a_model_and_its_optimizer_that_become_attributes_later(
    restored: Callable[..., tf.train.Checkpoint],
) -> None:
    def make() -> tuple[Any, Any]:
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        return model, tf.keras.optimizers.SGD(0.1, momentum=0.9)

    model, optimizer = make()
    optimizer.apply_gradients([(tf.ones(each.shape), each) for each in model.trainable_variables])
    checkpoint = restored({"model": model, "optimizer": optimizer})
    again, other_optimizer = make()
    checkpoint.model = again
    np.testing.assert_array_equal(again.get_weights()[0], model.get_weights()[0])
    again.set_weights([weights * 0 for weights in again.get_weights()])
    checkpoint.optimizer = other_optimizer
    for one, other in zip(optimizer.variables, other_optimizer.variables, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert not np.any(again.get_weights()[0]), "the optimizer leaves the model as it is"


def test_an_iterator_that_becomes_an_attribute_later(restored: Callable[..., tf.train.Checkpoint]) -> None:
    dataset = tf.data.Dataset.range(10)
    iterator = iter(dataset)
    next(iterator), next(iterator)
    checkpoint = restored({"iterator": iterator})
    checkpoint.iterator = iter(dataset)
    assert int(next(checkpoint.iterator)) == 2


@pytest.mark.parametrize("when", ["before", "after"])
def test_items_of_lists_and_dicts_get_their_values(restored: Callable[..., tf.train.Checkpoint], when: str) -> None:
    saved = {"listed": [tf.Variable(1.0), tf.Variable(2.0)], "mapped": {"a": [tf.Variable(3.0)]}}
    original: list[Any] = []
    checkpoint = restored(saved, **({"listed": original, "mapped": {}} if when == "before" else {}))
    if when == "after":
        checkpoint.listed, checkpoint.mapped = original, {}
    checkpoint.listed.append(tf.Variable(0.0))
    checkpoint.listed += [tf.Variable(0.0)]
    checkpoint.mapped["a"] = []
    checkpoint.mapped["a"].append(tf.Variable(0.0))
    assert [float(each) for each in original] == [1.0, 2.0]
    assert float(checkpoint.mapped["a"][0]) == 3.0


def test_tracked_lists_and_dicts_are_lists_and_dicts_for_jax_and_pickle(
    restored: Callable[..., tf.train.Checkpoint],
) -> None:
    checkpoint = restored({"listed": [tf.Variable(1.0)], "mapped": {"a": tf.Variable(1.0)}}, listed=[], mapped={})
    checkpoint.listed.append(3)
    checkpoint.mapped["b"] = 4
    both = (checkpoint.listed, checkpoint.mapped)
    assert jax.tree.map(lambda each: each + 1, both) == ([4], {"b": 5})
    assert tf.nest.flatten(both) == [3, 4]
    assert pickle.loads(pickle.dumps(both)) == ([3], {"b": 4})
    assert all(type(each) in (list, dict) for each in pickle.loads(pickle.dumps(both)))


def test_what_cannot_be_stored_may_be_set_after_a_restore(restored: Callable[..., tf.train.Checkpoint]) -> None:
    module, variable = tf.Module(), tf.Variable(0.0)
    restored({"model": {"w": tf.Variable(3.0), "parts": [tf.Variable(5.0)]}, "other": tf.Variable(1.0)}, model=module)
    module.class_names = {0: "cat"}
    module.callbacks = [print]
    module.parts = [variable, print]
    module.parts.append(tf.nn.relu)
    assert (module.class_names, module.callbacks) == ({0: "cat"}, [print])
    assert variable.numpy() == 5.0


def test_lists_and_dicts_with_values_to_come_are_lists_and_dicts_in_nests(
    restored: Callable[..., tf.train.Checkpoint],
) -> None:
    module = tf.Module()
    saved = {"states": [tf.Variable(1.0), tf.Variable(2.0)], "named": {"a": tf.Variable(3.0), "b": tf.Variable(4.0)}}
    restored({"model": saved}, model=module)
    module.states, module.named = [tf.Variable(0.0)], {"a": tf.Variable(0.0)}
    assert type(module.states) is not list, "the second variable is to come"
    values = [variable.numpy() for variable in module.states]
    assert tf.nest.map_structure(float, module.states) == values == [1.0]
    assert tf.nest.map_structure(float, module.named) == {"a": 3.0}
    assert type(tf.nest.map_structure(float, module.states)) is list
    assert type(tf.nest.map_structure(float, module.named)) is dict
    tf.nest.assert_same_structure(module.states, [1.0])
    assert keras.tree.map_structure(float, [module.states, module.named]) == [[1.0], {"a": 3.0}]


def test_a_setter_of_a_module_runs_once() -> None:
    class Counting(tf.Module):
        set_values: list[Any]

        @property
        def weights(self) -> Any:
            return self.set_values[-1]

        @weights.setter
        def weights(self, value: Any) -> None:
            self.set_values.append(value)

    module = Counting()
    module.set_values = []
    module.weights = [tf.Variable(1.0)]
    assert len(module.set_values) == 1


def test_a_layer_that_replaces_a_restored_one_is_built_for_its_own_shape(
    restored: Callable[..., tf.train.Checkpoint],
) -> None:
    saved = tf.keras.layers.Dense(3)
    saved.build((None, 10))
    first = tf.keras.layers.Dense(3)
    checkpoint = restored({"layer": saved, "other": tf.Variable(1.0)}, layer=first)
    checkpoint.layer = tf.keras.layers.Dense(3)
    assert checkpoint.layer(tf.ones((1, 20))).shape == (1, 3)


def test_an_optimizer_is_restored_beside_a_new_layer_that_is_not_built(
    restored: Callable[..., tf.train.Checkpoint],
) -> None:
    saved, optimizer = tf.keras.layers.Dense(1), tf.keras.optimizers.SGD(0.1, momentum=0.9)
    saved.build((None, 2))
    optimizer.apply_gradients([(tf.ones(each.shape), each) for each in saved.trainable_variables])
    layer = tf.keras.layers.Dense(1)
    layer.build((None, 2))
    checkpoint = restored({"layer": saved, "optimizer": optimizer}, layer=layer)
    checkpoint.head = tf.keras.layers.Dense(3)
    again = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    again.build(layer.trainable_variables)
    checkpoint.optimizer = again
    for one, other in zip(optimizer.variables, again.variables, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_only_values_that_may_be_used_later_are_kept(restored: Callable[..., tf.train.Checkpoint]) -> None:
    checkpoint = restored({"a": tf.Variable(1.0), "b": tf.Variable(2.0)}, a=tf.Variable(0.0))
    _, values, _ = _deferred[id(checkpoint)]
    assert list(values._arrays) == ["b"]
    complete = restored({"a": tf.Variable(1.0)}, a=tf.Variable(0.0))
    assert id(complete) not in _deferred
