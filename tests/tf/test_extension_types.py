"""`tf.experimental.ExtensionType`: fields, functions, gradients, datasets and dispatch."""

import typing
from collections.abc import Mapping

import numpy as np
import pytest

import unisono.tf as tf


class Masked(tf.experimental.BatchableExtensionType):
    """Some values count, some do not."""

    values: tf.Tensor
    mask: tf.Tensor
    name: str = "masked"

    def __validate__(self) -> None:
        if self.values.shape != self.mask.shape:
            raise ValueError("The shapes differ.")

    def with_default(self, default):
        return tf.where(self.mask, self.values, default)

    def __add__(self, other):
        return tf.add(self, other)

    shape = property(lambda self: self.values.shape)


class Pair(tf.experimental.ExtensionType):
    """A type of other types."""

    parts: tuple[Masked, ...]
    sizes: Mapping[str, int]
    weight: float | tf.Tensor = 1.0
    dtype: tf.DType = tf.float32


def masked(*values: float) -> Masked:
    return Masked(list(values), [value > 0 for value in values])


def test_fields_are_converted_checked_and_constant() -> None:
    made = Masked([1.0, -2.0], mask=[True, False])
    assert isinstance(made.values, tf.Tensor)
    assert made.mask.dtype == tf.bool
    assert made.name == "masked"
    assert made.with_default(0.0).tolist() == [1, 0]
    assert repr(made).startswith("Masked(values=")
    for change in (lambda: setattr(made, "name", "other"), lambda: delattr(made, "name")):
        with pytest.raises(AttributeError, match=r"Masked\.name cannot be set"):
            change()
    with pytest.raises(ValueError, match="The shapes differ"):
        Masked([1.0], [True, False])
    with pytest.raises(TypeError, match=r"Masked\.name is 3\. Expected str"):
        Masked([1.0], [True], 3)
    with pytest.raises(TypeError, match="missing a required argument: 'mask'"):
        Masked([1.0])


def test_tuples_mappings_unions_and_types_are_fields() -> None:
    pair = Pair([masked(1.0)], {"a": 1})
    assert isinstance(pair.parts, tuple)
    assert dict(pair.sizes) == {"a": 1}
    assert pair.weight == 1.0
    assert pair.dtype == tf.float32
    assert isinstance(Pair((), {}, tf.constant(2.0)).weight, tf.Tensor)
    for wrong, text in (
        (lambda: Pair([3], {}), r"Pair\.parts\[0\] is 3\. Expected Masked"),
        (lambda: Pair((), 3), r"Pair\.sizes is 3\. Expected a mapping"),
        (lambda: Pair((), {"a": "b"}), r"Pair\.sizes\['a'\] is 'b'\. Expected int"),
        (lambda: Pair((), {}, object()), r"Pair\.weight is .*Expected float or Tensor"),
    ):
        with pytest.raises(TypeError, match=text):
            wrong()
    with pytest.raises(TypeError, match=r"Write tuple\[int, \.\.\.\]"):
        type("Wrong", (tf.experimental.ExtensionType,), {"__annotations__": {"x": list[int]}, "__module__": __name__})
    with pytest.raises(ValueError, match="'Spec' cannot be a field"):
        type("Wrong", (tf.experimental.ExtensionType,), {"__annotations__": {"Spec": int}, "__module__": __name__})


def test_fields_can_have_a_shape_and_constructors_can_be_written() -> None:
    class Point(tf.experimental.ExtensionType):
        at: tf.TensorSpec([2], tf.float32)
        label: typing.Optional[str]  # noqa: UP045

        def __init__(self, x, y, label=None):
            self.at = [float(x), float(y)]
            self.label = label

    class Dot(Point):
        size: int = 1

        def __init__(self, at):
            self.at = at

    assert Point(1, 2).at.tolist() == [1, 2]
    assert Point(1, 2, "a").label == "a"
    with pytest.raises(AttributeError, match="did not set the field 'label'"):
        Dot([1.0, 2.0])
    with pytest.raises(TypeError, match=r"Wide\.at is .*Expected TensorSpec"):
        type("Wide", (Point,), {"__init__": lambda self: vars(self).update(at=[1.0], label=None)})()


def test_objects_are_compared_value_by_value() -> None:
    assert masked(1.0, 2.0) == masked(1.0, 2.0)
    assert masked(1.0, 2.0) != masked(1.0, 3.0)
    assert masked(1.0) != masked(1.0, 2.0)
    assert masked(1.0) != 3
    assert Masked([1.0], [True], "a") != Masked([1.0], [True], "b")


def test_functions_take_and_return_them_and_trace_once_for_each_name() -> None:
    traces = []

    @tf.function
    def double(x: Masked) -> Masked:
        traces.append(x.name)
        return Masked(2 * x.values, x.mask, x.name)

    assert double(masked(1.0, -1.0)).values.tolist() == [2, -2]
    assert double(masked(3.0, -1.0)).with_default(0.0).tolist() == [6, 0]
    assert traces == ["masked"]
    assert double(Masked([1.0, 2.0], [True, True], "other")).name == "other"
    assert traces == ["masked", "other"]
    pair = tf.function(lambda p: Pair(p.parts[::-1], p.sizes, p.weight))(Pair([masked(1.0), masked(2.0)], {"a": 1}))
    assert pair.parts[0].values.tolist() == [2]

    @tf.function(input_signature=[Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))])
    def total(x):
        return tf.reduce_sum(x.with_default(0.0))

    assert float(total(masked(1.0, 2.0, -5.0))) == 3
    with pytest.raises(TypeError, match="Expected an object that fits"):
        total(Masked([1], [True]))


def test_loops_branches_and_replicas_pass_them_on() -> None:
    @tf.function
    def add_often(x, count):
        for _ in tf.range(count):
            x = Masked(x.values + 1, x.mask)
        if count > 2:
            return x
        else:
            return Masked(-x.values, x.mask)

    assert add_often(masked(1.0, 2.0), tf.constant(3)).values.tolist() == [4, 5]
    assert add_often(masked(1.0, 2.0), tf.constant(1)).values.tolist() == [-2, -3]
    _, last = tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, Masked(2 * x.values, x.mask)), (0, masked(1.0)))
    assert last.values.tolist() == [4]
    rows = Masked([[1.0, 2.0], [3.0, 4.0]], [[True, False], [True, True]])
    assert tf.map_fn(lambda x: x.with_default(0.0), rows, fn_output_signature=tf.float32).tolist() == [[1, 0], [3, 4]]
    strategy = tf.distribute.OneDeviceStrategy("cpu:0")
    assert float(strategy.run(lambda x: tf.reduce_sum(x.values), (masked(1.0, 2.0),))) == 3
    assert tf.is_tensor(rows)
    with pytest.raises(TypeError, match="Pass one of its fields"):
        tf.convert_to_tensor(rows)


def test_gradients_pass_through_them() -> None:
    x = tf.Variable([1.0, -2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(Masked(x * x, [True, False]).with_default(0.0))
    assert tape.gradient(loss, x).tolist() == [2, 0]


def test_specs_describe_objects() -> None:
    spec = Masked.Spec.from_value(masked(1.0, 2.0))
    assert spec.values == tf.TensorSpec([2], tf.float32)
    assert spec == Masked.Spec(tf.TensorSpec([2]), tf.TensorSpec([2], tf.bool))
    assert spec.name == "masked"
    assert repr(spec).startswith("Masked.Spec(values=TensorSpec(shape=(2,)")
    assert spec.is_compatible_with(masked(3.0, 4.0))
    assert not spec.is_compatible_with(masked(3.0))
    assert not spec.is_compatible_with(tf.constant([1.0]))
    assert Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool)).is_compatible_with(spec)


def test_datasets_hold_batch_and_map_them() -> None:
    rows = Masked(np.arange(6.0, dtype="float32").reshape(3, 2), np.arange(6).reshape(3, 2) % 2 == 0)
    data = tf.data.Dataset.from_tensor_slices(rows)
    assert data.element_spec == Masked.Spec(tf.TensorSpec([2]), tf.TensorSpec([2], tf.bool))
    first = next(iter(data))
    assert isinstance(first, Masked)
    assert first.with_default(-1.0).tolist() == [0, -1]
    batches = list(data.batch(2))
    assert [batch.values.shape for batch in batches] == [(2, 2), (1, 2)]
    assert bool(next(iter(data.batch(3))) == rows)
    assert [each.tolist() for each in data.map(lambda x: x.with_default(9.0))] == [[0, 9], [2, 9], [4, 9]]
    doubled = data.map(lambda x: Masked(x.values * 2, x.mask)).batch(3)
    assert next(iter(doubled)).values.tolist() == [[0, 2], [4, 6], [8, 10]]
    assert len(list(data.batch(3).unbatch())) == 3
    both = tf.data.Dataset.from_tensors((rows, [1, 2, 3])).repeat(2)
    assert [label.tolist() for _, label in both] == [[1, 2, 3]] * 2


def test_functions_of_the_namespace_are_replaced_for_a_type() -> None:
    with pytest.raises(TypeError, match=r"tf\.math\.add does not accept a Masked.*dispatch_for_api"):
        _ = masked(1.0) + masked(2.0)

    @tf.experimental.dispatch_for_api(tf.add, {"x": Masked, "y": Masked})
    def add(x, y, name=None):
        return Masked(x.values + y.values, x.mask & y.mask)

    @tf.experimental.dispatch_for_unary_elementwise_apis(Masked)
    def unary(api, x):
        return Masked(api(x.values), x.mask)

    @tf.experimental.dispatch_for_binary_elementwise_apis(Masked, typing.Union[Masked, tf.Tensor])  # noqa: UP007
    def binary(api, x, y):
        other = y.values if isinstance(y, Masked) else y
        return Masked(api(x.values, other), x.mask)

    @tf.experimental.dispatch_for_api(tf.stack)
    def stack(values: list[Masked], axis=0):
        return Masked(tf.stack([x.values for x in values], axis), tf.stack([x.mask for x in values], axis))

    try:
        assert tf.add(masked(1.0, 2.0), masked(3.0, -4.0)).mask.tolist() == [True, False]
        assert tf.abs(masked(1.0, -2.0)).values.tolist() == [1, 2]
        assert tf.cast(masked(1.0), tf.int32).values.dtype == tf.int32
        assert tf.multiply(masked(2.0), tf.constant(3.0)).values.tolist() == [6]
        assert tf.stack([masked(1.0), masked(2.0)]).values.shape == (2, 1)
        with pytest.raises(TypeError, match="no function was registered for arguments of these types"):
            tf.multiply(tf.constant(3.0), masked(2.0))
    finally:
        for function in (add, unary, binary, stack):
            tf.experimental.unregister_dispatch_for(function)
    with pytest.raises(TypeError, match="no function was registered"):
        tf.abs(masked(1.0))
    with pytest.raises(ValueError, match="is not a function of tf"):
        tf.experimental.dispatch_for_api(len, {"x": Masked})
    with pytest.raises(ValueError, match="Annotate the function"):
        tf.experimental.dispatch_for_api(tf.add)(lambda x, y: x)


def test_a_type_that_refers_to_itself() -> None:
    class Node(tf.experimental.ExtensionType):
        value: tf.Tensor
        children: typing.Tuple["Node", ...] = ()  # noqa: UP006  (as scripts write it)
        parent: "Node | None" = None

        def total(self) -> tf.Tensor:
            return self.value + sum(child.total() for child in self.children)

    class Named(Node):
        name: str = "node"

    tree = Named(3, [Node(5), Node(2, (Node(1),))])
    assert tf.function(lambda node: node.total())(tree) == 11
    assert isinstance(tree.children, tuple)
    with pytest.raises(TypeError, match=r"Node\.children\[0\] is 5\. Expected Node"):
        Node(3, [5])


def test_the_spec_of_a_value() -> None:
    assert tf.type_spec_from_value(tf.ones([2])) == tf.type_spec_from_value([1.0, 2.0]) == tf.TensorSpec([2])
    assert tf.type_spec_from_value("a") == tf.TensorSpec([], tf.string)
    assert tf.type_spec_from_value(tf.Variable(1)).dtype == tf.int32
    assert isinstance(tf.type_spec_from_value(tf.ragged.constant([[1], []])), tf.RaggedTensorSpec)
    assert isinstance(tf.type_spec_from_value(tf.sparse.from_dense([1, 0])), tf.SparseTensorSpec)
    assert isinstance(tf.type_spec_from_value(masked(1.0)), Masked.Spec)
    assert tf.type_spec_from_value(tf.data.Dataset.range(3)).element_spec.shape == []
