"""guide/intro_to_modules: Introduction to modules, layers and models."""

from pathlib import Path

import numpy as np

import unisono.tf as tf


class Dense(tf.Module):
    def __init__(self, in_features: int, out_features: int, name: str | None = None) -> None:
        super().__init__(name=name)
        self.w = tf.Variable(tf.random.normal([in_features, out_features]), name="w")
        self.b = tf.Variable(tf.zeros([out_features]), name="b")

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.relu(tf.matmul(x, self.w) + self.b)


class FlexibleDense(tf.Module):
    def __init__(self, out_features: int, name: str | None = None) -> None:
        super().__init__(name=name)
        self.is_built = False
        self.out_features = out_features

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        if not self.is_built:
            self.w = tf.Variable(tf.random.normal([x.shape[-1], self.out_features]), name="w")
            self.b = tf.Variable(tf.zeros([self.out_features]), name="b")
            self.is_built = True
        return tf.nn.relu(tf.matmul(x, self.w) + self.b)


class SequentialModule(tf.Module):
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.dense_1 = Dense(in_features=3, out_features=3)
        self.dense_2 = FlexibleDense(out_features=2)

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return self.dense_2(self.dense_1(x))


def test_modules_track_what_they_own() -> None:
    """trainable_variables, variables, submodules, names; variables made in the first call of a function"""

    class SimpleModule(tf.Module):
        def __init__(self, name: str | None = None) -> None:
            super().__init__(name=name)
            self.a_variable = tf.Variable(5.0, name="train_me")
            self.non_trainable_variable = tf.Variable(5.0, trainable=False, name="do_not_train_me")

        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            return self.a_variable * x + self.non_trainable_variable

    simple = SimpleModule(name="simple")
    assert simple(tf.constant(5.0)) == 30
    assert len(simple.trainable_variables) == 1
    assert len(simple.variables) == 2
    model = SequentialModule(name="the_model")
    assert model(tf.constant([[2.0, 2.0, 2.0]])).shape == (1, 2)
    assert {type(each) for each in model.submodules} == {Dense, FlexibleDense}
    assert len(model.variables) == 4
    assert "w" in model.dense_1.w.name


def test_saving_weights_and_functions(tmp_path: Path) -> None:
    """Checkpoint.write and restore of a module, list_variables; saved_model of a function; TensorBoard graph"""
    model = SequentialModule()
    x = tf.constant([[2.0, 2.0, 2.0]])
    expected = model(x).numpy()
    path = tf.train.Checkpoint(model=model).write(str(tmp_path / "my_checkpoint"))
    assert tf.train.list_variables(path)
    new_model = SequentialModule()
    new_model(x)
    tf.train.Checkpoint(model=new_model).restore(path)
    np.testing.assert_allclose(new_model(x), expected, rtol=1e-6)
    tf.saved_model.save(model, str(tmp_path / "the_saved_model"))
    loaded = tf.saved_model.load(str(tmp_path / "the_saved_model"))
    assert not isinstance(loaded, SequentialModule)
    np.testing.assert_allclose(loaded(x), expected, rtol=1e-6)
    writer = tf.summary.create_file_writer(str(tmp_path / "logs"))
    tf.summary.trace_on(graph=True)
    model(x)
    with writer.as_default():
        tf.summary.trace_export(name="my_func_trace", step=0, profiler_outdir=str(tmp_path / "logs"))


def test_keras_layers_and_models(tmp_path: Path) -> None:
    """a Layer with build and **kwargs, a Model of layers, functional models, save and load_model"""

    class MyDense(tf.keras.layers.Layer):
        def __init__(self, out_features: int, **kwargs: object) -> None:
            super().__init__(**kwargs)
            self.out_features = out_features

        def build(self, input_shape: tuple) -> None:
            self.w = tf.Variable(tf.random.normal([input_shape[-1], self.out_features]), name="w")
            self.b = tf.Variable(tf.zeros([self.out_features]), name="b")

        def call(self, inputs: tf.Tensor) -> tf.Tensor:
            return tf.matmul(inputs, self.w) + self.b

    class MySequentialModel(tf.keras.Model):
        def __init__(self, name: str | None = None, **kwargs: object) -> None:
            super().__init__(**kwargs)
            self.dense_1 = MyDense(out_features=3)
            self.dense_2 = MyDense(out_features=2)

        def call(self, x: tf.Tensor) -> tf.Tensor:
            return self.dense_2(self.dense_1(x))

    layer = MyDense(out_features=3)
    layer(tf.constant([[2.0, 2.0, 2.0], [3.0, 3.0, 3.0]]))
    assert len(layer.weights) == 2
    model = MySequentialModel(name="the_model")
    assert model(tf.constant([[2.0, 2.0, 2.0]])).shape == (1, 2)
    assert len(model.weights) == 4
    assert len(list(model.submodules)) >= 2
    inputs = tf.keras.Input(shape=[3])
    functional = tf.keras.Model(inputs=inputs, outputs=MyDense(2)(MyDense(3)(inputs)))
    functional.summary(print_fn=lambda *args, **kwargs: None)
    functional.save(str(tmp_path / "exname.keras"))
    again = tf.keras.models.load_model(str(tmp_path / "exname.keras"), custom_objects={"MyDense": MyDense})
    x = tf.constant([[2.0, 2.0, 2.0]])
    np.testing.assert_allclose(again(x), functional(x), rtol=1e-6)
