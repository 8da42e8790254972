"""`tf.compat.v1` in eager style: variables by name, assignments, sessions that only set options."""

import numpy as np
import pytest

import unisono.tf as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def _forget_names():
    v1.reset_default_graph()
    yield
    v1.reset_default_graph()


def test_variables_are_found_again_where_the_scope_reuses_them() -> None:
    with v1.variable_scope("net", reuse=v1.AUTO_REUSE):
        with v1.variable_scope("layer"):
            first = v1.get_variable("w", [2, 3], initializer=tf.ones_initializer())
        with v1.variable_scope("layer"):
            assert v1.get_variable("w", [2, 3]) is first
            with pytest.raises(ValueError, match=r"'net/layer/w'\): the variable has shape \(2, 3\)"):
                v1.get_variable("w", [3, 3])
    assert first.path == "net/layer/w"
    assert first.numpy().sum() == 6
    with v1.variable_scope("net/layer", reuse=True) as scope:
        assert v1.get_variable("w") is first
        assert scope.name == v1.get_variable_scope().name == "net/layer"
        with pytest.raises(ValueError, match="there is no variable of that name"):
            v1.get_variable("b", [3])
    with v1.variable_scope(scope):
        assert scope.get_variable("w") is first
    assert v1.get_variable_scope().name == ""


def test_without_reuse_each_call_makes_a_variable_as_in_eager_tensorflow() -> None:
    first, second = v1.get_variable("w", [2]), v1.get_variable("w", [2])
    assert first is not second
    assert first.trainable
    assert not v1.get_variable("step", [], tf.int32, trainable=False).trainable


def test_initial_values_come_from_arrays_initializers_and_the_scope() -> None:
    assert v1.get_variable("a", initializer=tf.constant([1.0, 2.0])).numpy().tolist() == [1, 2]
    with v1.variable_scope("s", initializer=v1.constant_initializer(7.0), dtype=tf.int32):
        found = v1.get_variable("b", [2])
    assert found.numpy().tolist() == [7, 7]
    assert found.dtype == "int32"
    with pytest.raises(ValueError, match=r"shape is missing\. Pass shape="):
        v1.get_variable("c")
    with pytest.raises(ValueError, match="expected a name"), v1.variable_scope(None):
        pass
    doubled = v1.get_variable("d", [1], custom_getter=lambda get, name, **given: 2 * get(name, **given).value)
    assert doubled.shape == (1,)


@pytest.mark.parametrize(
    ("make", "mean", "deviation"),
    [
        (lambda: v1.random_normal_initializer(), 0, 1),
        (lambda: v1.truncated_normal_initializer(stddev=0.1), 0, 0.088),
        (lambda: v1.random_uniform_initializer(), 0.5, 0.2887),
        (lambda: v1.variance_scaling_initializer(), 0, 0.1),
        (lambda: v1.glorot_normal_initializer(), 0, 0.1),
        (lambda: v1.glorot_uniform_initializer(), 0, 0.1),
    ],
)
def test_initializers_have_the_defaults_of_tensorflow_1(make, mean: float, deviation: float) -> None:
    values = np.asarray(make()([100, 100], dtype=tf.float32))
    assert abs(values.mean() - mean) < 0.05
    assert abs(values.std() - deviation) < 0.05 * max(deviation, 0.3)


def test_assignments_happen_at_once_and_return_the_variable() -> None:
    v = v1.Variable([1.0, 2.0, 3.0], collections=["x"], use_resource=True, name="v")
    assert isinstance(v, tf.Variable)
    v1.assign(v, [2.0, 2.0, 2.0])
    v1.assign_add(v, [1.0, 0.0, 0.0])
    v1.assign_sub(v, [0.0, 1.0, 0.0])
    assert v.numpy().tolist() == [3, 1, 2]
    v1.scatter_update(v, [0], [9.0])
    v1.scatter_add(v, [1], [1.0])
    v1.scatter_sub(v, [2], [1.0])
    v1.scatter_nd_add(v, [[0]], [1.0])
    assert v.numpy().tolist() == [10, 2, 1]
    assert v1.global_variables_initializer() is None
    assert v1.local_variables_initializer() is v1.tables_initializer() is None
    assert v1.variables_initializer([v]) is None


def test_a_session_with_a_config_sets_options_and_runs_nothing() -> None:
    config = v1.ConfigProto(allow_soft_placement=True, gpu_options=v1.GPUOptions(allow_growth=True))
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    config.graph_options.rewrite_options.auto_mixed_precision = 1
    session = v1.Session(config=config)
    v1.keras.backend.set_session(session)
    tf.keras.backend.set_session(v1.InteractiveSession(config=v1.ConfigProto(device_count={"GPU": 8})))
    session.close()
    for use in (
        lambda: session.run(3),
        lambda: session.as_default(),
        lambda: session.__enter__(),
        lambda: v1.Session(),
        lambda: v1.InteractiveSession(),
        lambda: v1.Session(graph=object(), config=config),
    ):
        with pytest.raises(NotImplementedError, match=r"@tf\.function on a Python function"):
            use()


def test_switching_to_graphs_warns_and_changes_nothing() -> None:
    for switch in (v1.disable_eager_execution, v1.disable_v2_behavior):
        with pytest.warns(UserWarning, match="execution stays eager. Remove the line"):
            switch()
    assert v1.executing_eagerly()
    v1.enable_control_flow_v2()
    v1.enable_tensor_equality()
    assert v1.control_flow_v2_enabled()
    assert v1.resource_variables_enabled()


def test_initializers_have_short_names() -> None:
    initializers = tf.compat.v1.initializers
    assert initializers.identity(2.0)([2, 2]).tolist() == [[2, 0], [0, 2]]
    assert initializers.ones()([1]).tolist() == [1] == initializers.constant(1)([1]).tolist()
    for name in ("he_normal", "he_uniform", "lecun_normal", "lecun_uniform", "glorot_uniform", "variance_scaling"):
        make = getattr(initializers, name)
        np.testing.assert_array_equal(make(seed=1)([3, 4]), make(seed=1)([3, 4]))
    with pytest.raises(AttributeError, match=r"compat\.v1\.initializers\.other is not available"):
        initializers.other  # noqa: B018


def test_optimizers_without_a_counterpart_say_what_to_use() -> None:
    for name in ("AdagradDA", "ProximalAdagrad", "ProximalGradientDescent"):
        with pytest.raises(AttributeError, match=r"use tf\.keras\.optimizers\.(Ftrl|SGD),"):
            getattr(tf.compat.v1.train, f"{name}Optimizer")
