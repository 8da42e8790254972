"""`tf.autograph`, and Python's control flow in `tf.function`."""
# ruff: noqa: SIM108

import pytest

import unisono.tf as tf


@tf.function
def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def test_if_and_while_on_tensors():
    assert [int(collatz(tf.constant(n))) for n in (1, 6, 27)] == [0, 8, 111]
    assert collatz.experimental_get_tracing_count() == 1


def test_for_over_a_range_with_a_tensor_limit():
    @tf.function
    def total(n):
        result = tf.constant(0)
        for i in tf.range(n):
            if i == 3:
                continue
            if i > 5:
                break
            result += i
        return result

    assert [int(total(tf.constant(n))) for n in (0, 3, 9)] == [0, 3, 12]


def test_a_loop_over_a_static_range_has_gradients():
    weight = tf.Variable(2.0)

    @tf.function
    def gradient(x):
        with tf.GradientTape() as tape:
            y = x
            for _ in tf.range(3):
                y = y * weight
        return tape.gradient(y, weight)

    assert float(gradient(tf.constant(1.0))) == 12.0


def test_a_module_with_an_if_on_a_tensor():
    class Clipped(tf.Module):
        def __init__(self, limit):
            super().__init__()
            self.limit = tf.Variable(limit)
            self.count = tf.Variable(0)

        @tf.function
        def __call__(self, x):
            if tf.reduce_max(x) > self.limit:
                self.count.assign_add(1)
                return tf.minimum(x, self.limit)
            return x

    clipped = Clipped(1.5)
    assert clipped(tf.constant([1.0, 2.0])).numpy().tolist() == [1.0, 1.5]
    assert clipped(tf.constant([1.0, 1.0])).numpy().tolist() == [1.0, 1.0]
    assert clipped.count.numpy() == 1


def test_an_error_names_the_line_and_the_variable():
    @tf.function
    def wrong(x):
        if x > 0:
            label = tf.constant(1)
        return label

    with pytest.raises(
        TypeError, match=r"line \d+ of test_autograph.py: `if x > 0:`\n`label` gets a value in one branch"
    ):
        wrong(tf.constant(1.0))


def test_without_autograph_an_if_on_a_tensor_raises():
    @tf.function(autograph=False)
    def wrong(x):
        return 1 if x > 0 else 2

    with pytest.raises(TypeError, match="is compiled: its values are computed later"):
        wrong(tf.constant(1.0))


def test_do_not_convert():
    @tf.autograph.experimental.do_not_convert
    def plain(x):
        return 1 if x > 0 else 2

    assert tf.autograph.to_graph(plain) is plain
    with pytest.raises(TypeError, match="is compiled: its values are computed later"):
        tf.function(lambda x: plain(x))(tf.constant(1.0))


def larger(a, b):
    return a if a > b else b


def test_to_graph_and_to_code():
    converted = tf.autograph.to_graph(larger)
    assert converted(1, 2) == 2
    assert tf.autograph.to_code(larger).startswith("def larger(a, b):")
    assert int(tf.function(converted)(tf.constant(1), tf.constant(5))) == 5


def test_options_are_accepted(capsys):
    tf.autograph.set_verbosity(3, alsologtostdout=True)

    @tf.function(experimental_autograph_options=tf.autograph.experimental.Feature.all())
    def double(x, n):
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(parallel_iterations=4)
            tf.autograph.trace("tracing")
            x = x * 2
        return x

    assert float(double(tf.constant(1.0), tf.constant(3))) == 8.0
    assert capsys.readouterr().out == "tracing\n"
    features = tf.autograph.experimental.Feature
    assert features.LISTS not in features.all_but([features.LISTS])
    with pytest.raises(NotImplementedError, match=r"for i in tf.range\(5\):"):
        tf.autograph.experimental.set_loop_options(maximum_iterations=5)


def test_a_missing_name_is_named_in_the_error():
    with pytest.raises(AttributeError, match=r"tf\.autograph\.nothing"):
        _ = tf.autograph.nothing


def test_rows_of_a_tensor_array_are_written_in_a_loop() -> None:
    @tf.function
    def powers(x):
        rows = tf.TensorArray(tf.float32, size=4)
        for i in tf.range(4):
            rows = rows.write(i, x ** tf.cast(i, tf.float32))
        return rows.stack()

    assert powers(tf.constant(2.0)).numpy().tolist() == [1.0, 2.0, 4.0, 8.0]
