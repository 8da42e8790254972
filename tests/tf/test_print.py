"""`tf.print`: the texts are those that TensorFlow 2.21 prints."""

import sys

import jax
import numpy as np
import pytest

import unisono.tf as tf

TEXTS = {
    "one": (lambda: [tf.constant(1.0)], "1"),
    "digits": (lambda: [tf.constant(3.14159265)], "3.14159274"),
    "floats": (lambda: [tf.constant([0.1, 1e10, 1e-7, 123456789.0, 1 / 3])], "[0.1 1e+10 1e-07 123456792 0.333333343]"),
    "nested": (
        lambda: ["x", [1, 2], {"a": tf.constant([1, 2]), "b": "s"}, (1, "t")],
        "x [1, 2] {'a': [1 2], 'b': 's'} (1, 't')",
    ),
    "long": (lambda: [tf.range(10)], "[0 1 2 ... 7 8 9]"),
    "matrix": (lambda: [tf.ones((2, 2))], "[[1 1]\n [1 1]]"),
    "cube": (lambda: [tf.zeros((2, 1, 2))], "[[[0 0]]\n\n [[0 0]]]"),
    "text": (lambda: [tf.constant("abc"), tf.constant(["a", "b"])], '"abc" ["a" "b"]'),
    "others": (lambda: [True, tf.constant(True), None, 2.5], "True 1 None 2.5"),
    "numpy": (lambda: [np.arange(3), tf.Variable(2.0)], "array([0, 1, 2]) 2"),
    "half": (lambda: [tf.constant(1 / 3, tf.float16), tf.constant(1 / 3, tf.bfloat16)], "0.333251953 0.333984375"),
    "empty": (lambda: [tf.zeros([0])], "[]"),
    "one in a tuple": (lambda: [(tf.constant(1),)], "(1,)"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_values_are_printed_as_tensorflow_does(name, capsys):
    values, text = TEXTS[name]
    tf.print(*values(), output_stream=sys.stdout)
    assert capsys.readouterr().out == text + "\n"


def test_large_matrices_are_cut(capsys):
    tf.print(tf.reshape(tf.range(100), (10, 10)), summarize=1)
    assert capsys.readouterr().err == "[[0 ... 9]\n ...\n [90 ... 99]]\n"
    tf.print(tf.range(8), summarize=-1, end="!")
    assert capsys.readouterr().err == "[0 1 2 3 4 5 6 7]!"
    tf.print("a", "b", sep=", ")
    assert capsys.readouterr().err == "a, b\n"


def test_a_compiled_function_prints_every_time(capsys):
    @tf.function
    def noisy(x):
        tf.print("x is", x, {"twice": 2 * x}, output_stream=sys.stdout)
        return x

    noisy(tf.constant([1.0, 2.0]))
    noisy(tf.constant([3.0, 0.5]))
    jax.effects_barrier()
    assert capsys.readouterr().out == "x is [1 2] {'twice': [2 4]}\nx is [3 0.5] {'twice': [6 1]}\n"


def test_a_file_is_appended_to(tmp_path):
    path = tmp_path / "log.txt"
    tf.print("one", output_stream=f"file://{path}")
    tf.print(tf.constant(2), output_stream=f"file://{path}")
    assert path.read_text() == "one\n2\n"
    with pytest.raises(ValueError, match="file:///tmp"):
        tf.print("one", output_stream="log.txt")


def test_text_tensors_show_themselves_as_tensorflow_has_it() -> None:
    (batch,) = tf.data.Dataset.from_tensor_slices(["dog", "é"]).batch(2)
    assert str(tf.constant("hi")) == "tf.Tensor(b'hi', shape=(), dtype=string)"
    assert str(batch) == r"tf.Tensor([b'dog' b'\xc3\xa9'], shape=(2,), dtype=string)"
    assert repr(batch[0]) == "<tf.Tensor: shape=(), dtype=string, numpy=b'dog'>"
    assert repr(tf.constant([["a"]])) == "<tf.Tensor: shape=(1, 1), dtype=string, numpy=array([[b'a']], dtype=object)>"
    assert f"{tf.constant('hi')}" == "b'hi'"
