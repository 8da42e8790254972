"""`tf.Module`: order and names."""

import unisono.tf as tf


class Inner(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.k = tf.Variable(0.0, name="k")


class MLP(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = Inner()
        self.by_key = {"z": tf.Variable(1.0, name="z"), "b": tf.Variable(2.0, name="b")}
        self.w = tf.Variable(3.0, name="own")
        self.also = [self.w, self.a]


class HTTPServer2(tf.Module):
    pass


def test_the_order_of_variables_and_the_names_of_modules() -> None:
    assert [each.name for each in MLP().variables] == ["own", "b", "z", "k"]
    assert (MLP().name, HTTPServer2().name) == ("mlp", "http_server2")
