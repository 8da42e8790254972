"""`MyType.Spec`: what an object of an ExtensionType looks like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unisono._src.data.plans import CompositeSpec, spec_of_leaf
from unisono.tf._composite import CompositeTensor
from unisono.tf._dtypes import as_dtype
from unisono.tf._shape import TensorShape
from unisono.tf._spec import TensorSpec
from unisono.tf.experimental._extension_fields import is_static, map_parts


class ExtensionTypeSpec(CompositeSpec):
    """Has the fields of its type, with specs in place of tensors. Made for each type as `MyType.Spec`."""

    value_type: Any = None
    """The ExtensionType."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        arguments = self.value_type.__signature__.bind(*args, **kwargs)
        arguments.apply_defaults()
        vars(self).update(arguments.arguments)

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """The spec of an object."""
        return cls._from_fields({name: map_parts(_spec_of_part, part) for name, part in value.fields().items()})

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Any:
        made = object.__new__(cls)
        vars(made).update(fields)
        return made

    def fields(self) -> dict[str, Any]:
        """The specs and static values by the names of the fields."""
        return {name: vars(self)[name] for name in self.value_type.field_types()}

    def has_rows(self) -> bool:
        """Whether all tensors have at least one dim."""
        return all(spec.has_rows() if _is_composite(spec) else bool(spec.shape) for spec in self._parts())

    def num_rows(self) -> int | None:
        """How many rows the first tensor has, if that is known."""
        first = next(self._parts())
        return first.num_rows() if _is_composite(first) else first.shape[0]  # type: ignore[no-any-return]

    def batched(self, num_rows: int | None) -> Any:
        """The spec of such objects stacked."""
        return self._map(lambda spec: spec.batched(num_rows) if _is_composite(spec) else _stacked(spec, num_rows))

    def unbatched(self) -> Any:
        """The spec of a row."""
        return self._map(lambda spec: spec.unbatched() if _is_composite(spec) else _row(spec))

    def with_open_dims(self, sizes: set[int]) -> Any:
        """The same with None for dimensions of these sizes."""

        def open_dims(spec: Any) -> Any:
            if isinstance(spec, CompositeSpec):
                return spec.with_open_dims(sizes)
            return TensorSpec([None if dim in sizes else dim for dim in spec.shape], spec.dtype)

        return self._map(open_dims)

    def merged(self, other: Any) -> Any:
        """What objects of either spec look like."""

        def merge(one: Any, two: Any) -> Any:
            if isinstance(one, CompositeSpec):
                return one.merged(two)
            dims = zip(one.shape, two.shape, strict=True)
            return TensorSpec([a if a == b else None for a, b in dims], one.dtype)

        theirs = other.fields()
        return self._from_fields({name: map_parts(merge, part, theirs[name]) for name, part in self.fields().items()})

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether an object or its spec fits: equal static values, compatible shapes, equal dtypes."""
        other = spec_or_value
        if isinstance(other, self.value_type):
            other = type(self).from_value(other)
        if type(other) is not type(self):
            return False
        return all(_fits(part, other.fields()[name]) for name, part in self.fields().items())

    def check(self, leaf: Any, where: str) -> Any:
        """The object, if it fits; else an error."""
        if not self.is_compatible_with(leaf):
            raise TypeError(f"{where} is {leaf!r}. Expected an object that fits {self!r}.")
        return leaf

    def _parts(self) -> Iterator[Any]:
        found: list[Any] = []
        self._map(found.append)
        return iter(found)

    def _map(self, function: Any) -> Any:
        return self._from_fields({name: map_parts(function, part) for name, part in self.fields().items()})

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.fields() == other.fields()

    def __hash__(self) -> int:
        return hash((type(self), tuple(map(str, self.fields().values()))))

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={value!r}" for name, value in self.fields().items())
        return f"{self.value_type.__name__}.Spec({inner})"


def _spec_of_part(part: Any) -> Any:
    if isinstance(part, CompositeTensor):
        return spec_of_leaf(part)
    return TensorSpec(part.shape, as_dtype(part.dtype))


def _is_composite(spec: Any) -> bool:
    return isinstance(spec, CompositeSpec)


def _stacked(spec: Any, num_rows: int | None) -> TensorSpec:
    return TensorSpec([num_rows, *spec.shape], spec.dtype)


def _row(spec: Any) -> TensorSpec:
    return TensorSpec(spec.shape[1:], spec.dtype)


def _fits(part: Any, other: Any) -> bool:
    if is_static(part) or is_static(other):
        return bool(part == other)
    if isinstance(part, tuple):
        return len(part) == len(other) and all(map(_fits, part, other))
    if isinstance(part, CompositeSpec):
        return bool(part.is_compatible_with(other))  # type: ignore[attr-defined]
    if hasattr(part, "shape"):
        return part.dtype == other.dtype and TensorShape(part.shape).is_compatible_with(other.shape)
    return part.keys() == other.keys() and all(_fits(part[key], other[key]) for key in part)
