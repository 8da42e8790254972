"""Checkpoint: the names and behaviour of tf.train.Checkpoint, on Keras 3 objects and folders of ours."""

from __future__ import annotations

import gc
import os
import warnings
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.state.store import load
from unisono.checkpoint import BadCheckpoint, Checkpoint, CheckpointMismatch

pytestmark = pytest.mark.slow


def dense(units: int = 2) -> keras.Model:
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(units)])


def trained(steps: int = 3, **compile_options: Any) -> keras.Model:
    keras.utils.set_random_seed(steps)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dropout(0.5), keras.layers.Dense(2)])
    model.compile(keras.optimizers.Adam(0.1), "mse", **compile_options)
    for _ in range(steps):
        model.train_on_batch(np.ones((4, 3)), np.ones((4, 2)))
    return model


def test_save_counts_and_returns_the_folder(tmp_path: Path) -> None:
    checkpoint = Checkpoint(model=dense())
    prefix = str(tmp_path / "ckpt")
    assert [checkpoint.save(prefix), checkpoint.save(prefix)] == [f"{prefix}-1", f"{prefix}-2"]
    assert sorted(os.listdir(tmp_path)) == ["ckpt-1", "ckpt-2"]
    assert int(checkpoint.save_counter) == checkpoint.save_counter.numpy() == 2


def test_the_counter_is_restored_and_continues(tmp_path: Path) -> None:
    checkpoint = Checkpoint(model=dense())
    for _ in range(3):
        path = checkpoint.save(tmp_path / "ckpt")
    again = Checkpoint(model=dense())
    again.restore(path).assert_consumed()
    assert again.save(tmp_path / "ckpt").endswith("ckpt-4")


def test_write_and_read_count_nothing(tmp_path: Path) -> None:
    checkpoint = Checkpoint(model=dense(), epoch=4)
    assert checkpoint.write(tmp_path / "best") == str(tmp_path / "best")
    assert int(checkpoint.save_counter) == 0
    again = Checkpoint(model=dense(), epoch=0)
    again.save_counter.assign(7)
    again.read(tmp_path / "best").assert_consumed()
    assert (again.epoch, int(again.save_counter)) == (4, 7)


def test_training_resumes_as_if_nothing_had_happened(tmp_path: Path) -> None:
    model = trained()
    path = Checkpoint(model=model).save(tmp_path / "ckpt")
    new = trained(steps=1)
    Checkpoint(model=new).restore(path).assert_consumed()
    for each in (model, new):
        each.train_on_batch(np.ones((4, 3)), np.ones((4, 2)))
    for one, other in zip(model.variables, new.variables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_objects_are_attributes() -> None:
    checkpoint = Checkpoint(model=dense(), step=1)
    checkpoint.step += 1
    checkpoint.more = [1, 2]
    assert (checkpoint.step, checkpoint.more) == (2, [1, 2])
    assert {"step", "more", "save"} <= set(dir(checkpoint))
    del checkpoint.more
    with pytest.raises(AttributeError, match="no object 'more'; it has model, step"):
        checkpoint.more  # noqa: B018
    with pytest.raises(AttributeError, match="no object 'more'"):
        del checkpoint.more
    assert repr(checkpoint) == "Checkpoint(model=Sequential, step=int)"


@pytest.mark.parametrize("name", ["save", "restore", "save_counter", "_objects"])
def test_names_of_its_attributes_are_refused(name: str) -> None:
    with pytest.raises(AttributeError, match="Choose another"):
        Checkpoint(**{name: 1})


def test_what_cannot_be_stored_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match=r"'thing' is a builtins\.object"):
        Checkpoint(thing=object())


def test_a_root_needs_no_name(tmp_path: Path) -> None:
    model = dense()
    path = Checkpoint(model, epoch=2).save(tmp_path / "ckpt")
    assert "root/dense/kernel" in load(Path(path)).arrays
    new = Checkpoint(dense(), epoch=0)
    new.restore(path).assert_consumed()
    np.testing.assert_array_equal(new.root.layers[0].kernel, model.layers[0].kernel)


def test_restoring_nothing_does_nothing() -> None:
    checkpoint = Checkpoint(model=dense())
    status = checkpoint.restore(None)
    status.expect_partial().initialize_or_restore()
    for check in (status.assert_consumed, status.assert_existing_objects_matched, status.assert_nontrivial_match):
        with pytest.raises(AssertionError, match="No checkpoint was given"):
            check()


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadCheckpoint, match="ckpt-9"):
        Checkpoint(model=dense()).restore(tmp_path / "ckpt-9")


def test_values_without_an_object_are_named_when_the_status_is_dropped(tmp_path: Path) -> None:
    path = Checkpoint(model=dense(), epoch=3).save(tmp_path / "ckpt")
    with pytest.warns(UserWarning, match=r"(?s)values that belong to no object: epoch\..*expect_partial"):
        Checkpoint(model=dense()).restore(path)


@pytest.mark.parametrize("strict", [None, False])
def test_nothing_is_said_if_that_is_meant(tmp_path: Path, strict: bool | None) -> None:
    path = Checkpoint(model=dense(), epoch=3).save(tmp_path / "ckpt")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        status = Checkpoint(model=dense()).restore(path, strict=strict)
        status = status if strict is False else status.expect_partial()
        del status
        gc.collect()
    assert not said


def test_the_status_says_what_was_matched(tmp_path: Path) -> None:
    path = Checkpoint(model=dense(), epoch=3).save(tmp_path / "ckpt")
    status = Checkpoint(model=dense()).restore(path).expect_partial()
    status.assert_existing_objects_matched().assert_nontrivial_match()
    with pytest.raises(AssertionError, match="values that belong to no object: epoch"):
        status.assert_consumed()
    other = Checkpoint(other=keras.Variable(1.0)).restore(path, strict=False)
    with pytest.raises(AssertionError, match="has no value for: other"):
        other.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="No value was restored"):
        other.assert_nontrivial_match()
    assert "0 matched, 1 missing, 3 unused" in repr(other)


def test_a_variable_without_a_value_is_an_error(tmp_path: Path) -> None:
    path = Checkpoint(model=dense()).save(tmp_path / "ckpt")
    checkpoint = Checkpoint(model=dense(), optimizer=keras.optimizers.SGD())
    with pytest.raises(CheckpointMismatch, match="optimizer/iteration, optimizer/learning_rate"):
        checkpoint.restore(path)
    checkpoint.restore(path, strict=False).assert_nontrivial_match()


def test_an_optimizer_is_built_for_the_one_model_beside_it(tmp_path: Path) -> None:
    model, optimizer = dense(), keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    optimizer.apply([np.ones(each.shape, "float32") for each in model.trainable_variables])
    path = Checkpoint(model=model, optimizer=optimizer).save(tmp_path / "ckpt")
    new = Checkpoint(optimizer=keras.optimizers.Adam(), model=dense())
    new.restore(path).assert_consumed()
    assert int(new.optimizer.iterations.value) == 1
    for one, other in zip(optimizer.variables, new.optimizer.variables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_built_for_it_lives_where_the_model_lives(tmp_path: Path) -> None:
    with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        checkpoint = Checkpoint(model=dense(), optimizer=keras.optimizers.Adam())
        new = Checkpoint(model=dense(), optimizer=keras.optimizers.Adam())
        checkpoint.optimizer.build(checkpoint.model.trainable_variables)
    new.restore(checkpoint.save(tmp_path / "ckpt")).assert_consumed()
    assert all(len(each.value.sharding.device_set) == 2 for each in new.optimizer.variables)


def test_an_optimizer_that_was_not_built_is_not_built(tmp_path: Path) -> None:
    path = Checkpoint(model=dense(), optimizer=keras.optimizers.Adam()).save(tmp_path / "ckpt")
    new = Checkpoint(model=dense(), optimizer=keras.optimizers.Adam())
    new.restore(path).assert_consumed()
    assert not new.optimizer.built


@pytest.mark.parametrize(("models", "why"), [(0, "There is no model beside it"), (2, "There are 2 models beside it")])
def test_an_optimizer_whose_model_is_not_known_is_an_error(tmp_path: Path, models: int, why: str) -> None:
    one, other, optimizer = dense(), dense(), keras.optimizers.Adam()
    optimizer.build([*one.trainable_variables, *other.trainable_variables])
    path = Checkpoint(one=one, other=other, optimizer=optimizer).save(tmp_path / "ckpt")
    objects = dict([("one", dense()), ("other", dense())][:models])
    with pytest.raises(ValueError, match=rf"{why}.*\n.*optimizer.build\(model.trainable_variables\)"):
        Checkpoint(optimizer=keras.optimizers.Adam(), **objects).restore(path)


def test_a_compiled_model_restores_what_was_saved_before_it_was_compiled(tmp_path: Path) -> None:
    path = Checkpoint(model=dense()).save(tmp_path / "ckpt")
    model = dense()
    model.compile("adam", "mse", metrics=["mae"])
    Checkpoint(model=model).restore(path).assert_nontrivial_match()
    with pytest.raises(CheckpointMismatch, match="model/optimizer/iteration"):
        Checkpoint(model=model).restore(path, strict=True)


@pytest.mark.parametrize("metrics", [None, ["mae"]])
def test_metrics_that_keras_makes_with_the_first_batch_are_not_missed(tmp_path: Path, metrics: Any) -> None:
    path = Checkpoint(model=trained(metrics=metrics)).save(tmp_path / "ckpt")
    fresh = trained(steps=0, metrics=metrics)
    Checkpoint(model=fresh).restore(path, strict=True)
    assert int(fresh.optimizer.iterations.value) == 3


def test_a_mixed_precision_optimizer_comes_back(tmp_path: Path) -> None:
    def made() -> Checkpoint:
        model = dense()
        return Checkpoint(model=model, optimizer=keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam()))

    one, other = made(), made()
    one.optimizer.build(one.model.trainable_variables)
    one.optimizer.dynamic_scale.assign(256.0)
    other.restore(one.save(tmp_path / "ckpt")).assert_consumed()
    assert float(other.optimizer.dynamic_scale.value) == 256.0


def test_options_of_tensorflow_are_accepted(tmp_path: Path) -> None:
    checkpoint = Checkpoint(model=dense())
    checkpoint.restore(checkpoint.save(tmp_path / "ckpt", options=object()), options=object()).assert_consumed()


def test_a_checkpoint_moves_between_numbers_of_replicas(tmp_path: Path) -> None:
    def made(number: int) -> Checkpoint:
        with unisono.MirroredStrategy([f"cpu:{index}" for index in range(number)]).scope():
            model, optimizer, metric = dense(), keras.optimizers.Adam(), keras.metrics.Mean()
            optimizer.build(model.trainable_variables)
        return Checkpoint(model=model, optimizer=optimizer, metric=metric)

    one, two, four = made(1), made(2), made(4)
    two.metric.update_state([1.0, 2.0, 6.0])
    for target in (one, four):
        target.restore(two.save(tmp_path / "ckpt")).assert_consumed()
        assert float(target.metric.result()) == 3.0
        np.testing.assert_array_equal(target.model.layers[0].kernel, two.model.layers[0].kernel)


def test_the_folder_names_the_versions_that_made_it(tmp_path: Path) -> None:
    stored = load(Path(Checkpoint(model=dense()).save(tmp_path / "ckpt")))
    assert stored.step == 1
    assert stored.info["keras"] == keras.__version__
    assert "jax" in stored.info


class Scaled(keras.Model):
    """A model that Keras builds by calling it."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = keras.layers.Dense(2)

    def call(self, x: Any) -> Any:
        return 2 * self.inner(x)


@pytest.mark.parametrize("make", [lambda: keras.Sequential([keras.layers.Dense(2)]), Scaled])
def test_a_model_without_variables_is_built_as_the_saved_one_was(tmp_path: Path, make: Any) -> None:
    strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
    saved, x = make(), np.arange(12, dtype="float32").reshape(4, 3)
    wanted = saved(x)
    path = Checkpoint(model=saved).save(tmp_path / "ckpt")
    with strategy.scope():
        model = make()
    Checkpoint(model=model).restore(path).assert_consumed()
    assert len(model.weights[0].value.devices()) == 2
    np.testing.assert_allclose(model(x[:1]), wanted[:1], rtol=1e-6)


class Multiplied(keras.layers.Layer):
    """A layer of layers, which has no variables of its own, and a name that is a part of theirs."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(3)])
        self.scaled = Scaled()

    def call(self, x: Any, factor: Any) -> Any:
        return self.scaled(self.inner(x) * factor)


class OfTwo(keras.Model):
    """A model that is called with several arguments, so that Keras does not know its shapes; its layers know theirs."""

    def __init__(self) -> None:
        super().__init__()
        self.block = Multiplied()
        self.attention = keras.layers.MultiHeadAttention(1, 2)

    def call(self, left: Any, right: Any, training: bool, mask: Any = None) -> Any:
        del training, mask
        return self.attention(self.block(left, right), right)


@pytest.mark.full
def test_a_model_that_does_not_know_its_shapes_is_built_by_those_of_its_layers(tmp_path: Path) -> None:
    saved, model, x = OfTwo(), OfTwo(), np.arange(24, dtype="float32").reshape(2, 4, 3)
    wanted = saved(x, x + 1, training=False)
    path = Checkpoint(model=saved).save(tmp_path / "ckpt")
    Checkpoint(model=model).restore(path).assert_consumed()
    assert len(model.weights) == len(saved.weights) == 14
    names = [[weight.path.replace(m.name, "") for weight in m.weights] for m in (model, saved)]
    assert [name.count("/") for name in names[0]] == [name.count("/") for name in names[1]]
    np.testing.assert_allclose(model(x, x + 1, training=False), wanted, rtol=1e-6)


def test_a_model_without_known_shapes_has_to_be_built_before(tmp_path: Path) -> None:
    class Late(keras.Model):
        def build(self, input_shape: Any) -> None:
            self.inner = keras.layers.Dense(2)
            self.inner.build(input_shape)

        def call(self, x: Any) -> Any:
            return self.inner(x)

        def get_build_config(self) -> None:
            """As of a model that does not know its shapes."""

    saved, model = Late(), Late()
    saved(np.ones((1, 3), "float32"))
    path = Checkpoint(model=saved).save(tmp_path / "ckpt")
    with pytest.raises(ValueError, match=r"'model' has no variables yet"):
        Checkpoint(model=model).restore(path)
