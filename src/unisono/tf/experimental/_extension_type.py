"""`tf.experimental.ExtensionType`: classes of the user with tensors as fields, which functions and datasets accept."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._composite import CompositeTensor
from unisono.tf._tensors import as_array, to_host_tensor
from unisono.tf.experimental._extension_fields import check_annotation, fit, is_static, map_parts
from unisono.tf.experimental._extension_spec import ExtensionTypeSpec

FROZEN = """{name}.{field} cannot be set: objects of an ExtensionType do not change. Make another one:
{name}(..., {field}=value)."""
NOT_SET = "{name}.__init__ did not set the field {field!r}."
RESERVED = "{name}: {field!r} cannot be a field; the name is used by ExtensionType."
DIFFERENT = "{name}: objects with different values of {field!r} cannot be in one batch: {first!r} and {second!r}."

_RESERVED_NAMES: Final = frozenset({"Spec", "fields", "field_types", "self"})


class _ExtensionTypeMeta(type):
    """Collects the fields of a class, makes its constructor and its `Spec`, and registers it with JAX."""

    _field_types: dict[str, Any]

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> None:
        super().__init__(name, bases, namespace)
        cls._field_types = {}
        if not any(isinstance(base, _ExtensionTypeMeta) for base in bases):
            return
        for base in reversed(cls.__mro__):
            if isinstance(base, _ExtensionTypeMeta):
                cls._field_types |= _own_fields(base)
        if "__init__" not in namespace:
            parameters = [_parameter(cls, field) for field in cls._field_types]
            cls.__signature__ = inspect.Signature(parameters)
        own_spec = namespace.get("Spec")
        spec_bases = (ExtensionTypeSpec,) if own_spec is None else (own_spec, ExtensionTypeSpec)
        members = {"value_type": cls, "__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.Spec"}
        cls.Spec = type("Spec", spec_bases, members)
        jax.tree_util.register_pytree_node(cls, _flatten, lambda static, parts: _unflatten(cls, static, parts))

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made: Any = object.__new__(cls)  # type: ignore[arg-type]
        made.__init__(*args, **kwargs)
        values = vars(made)
        for field, annotation in cls._field_types.items():
            if field not in values:
                raise AttributeError(NOT_SET.format(name=cls.__name__, field=field))
            values[field] = fit(values[field], annotation, f"{cls.__name__}.{field}")
        values["_is_complete"] = True
        made.__validate__()
        return made


class ExtensionType(CompositeTensor, metaclass=_ExtensionTypeMeta):
    """The base class of types with tensors as fields.

    ```python
    class MaskedTensor(tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor

        def with_default(self, default):
            return tf.where(self.mask, self.values, default)
    ```

    Fields are annotated: tensors, numbers and text of Python, `tf.DType`, `tf.TensorShape`, other ExtensionTypes,
    tuples and mappings of these, and unions. Objects cannot be changed. Functions with `@tf.function`, gradients, loops
    and datasets take and return them; numbers and text of Python are constants there.
    """

    Spec: typing.ClassVar[Any]
    _field_types: typing.ClassVar[dict[str, Any]]
    advice = "Write @tf.experimental.dispatch_for_api(tf.{name}) above a function that does it."

    dense_advice = "Pass one of its fields."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        arguments = type(self).__signature__.bind(*args, **kwargs)
        arguments.apply_defaults()
        vars(self).update(arguments.arguments)

    def __validate__(self) -> None:
        """Override it to check the fields of a new object."""

    @classmethod
    def field_types(cls) -> dict[str, Any]:
        """The annotations of the fields."""
        return cls._field_types

    def fields(self) -> dict[str, Any]:
        """The values by the names of the fields."""
        return {name: vars(self)[name] for name in self._field_types}

    def __setattr__(self, name: str, value: Any) -> None:
        if vars(self).get("_is_complete"):
            raise AttributeError(FROZEN.format(name=type(self).__name__, field=name))
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(FROZEN.format(name=type(self).__name__, field=name))

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={value!r}" for name, value in self.fields().items())
        return f"{type(self).__name__}({inner})"

    def __eq__(self, other: object) -> Any:
        """Whether both have the same type, and all values are equal: a tensor of one bool."""
        if type(other) is not type(self):
            return False
        mine, theirs = jax.tree.leaves(self), jax.tree.leaves(other)
        if str(jax.tree.structure(self)) != str(jax.tree.structure(other)) or any(
            np.shape(a) != np.shape(b) for a, b in zip(mine, theirs, strict=True)
        ):
            return False
        results = [as_array(a == b).all() for a, b in zip(mine, theirs, strict=True)]
        return as_array(results).all() if results else True

    def __ne__(self, other: object) -> Any:
        equal = self == other
        return not equal if isinstance(equal, bool) else ~equal

    __hash__ = None  # type: ignore[assignment]

    # For datasets.

    def leaf_spec(self) -> Any:
        return self.Spec.from_value(self)

    def to_host(self) -> Any:
        return self._map(lambda part: part.to_host() if isinstance(part, CompositeTensor) else _to_host(part))

    def count_rows(self) -> int:
        rows = [
            part.count_rows() if isinstance(part, CompositeTensor) else len(part)
            for part in jax.tree.leaves(
                self, is_leaf=lambda part: isinstance(part, CompositeTensor) and part is not self
            )
        ]
        if len(set(rows)) != 1:
            raise ValueError(f"{type(self).__name__}: the tensors have {rows} rows. Expected equally many.")
        return rows[0]

    def has_rows(self) -> bool:
        return all(np.ndim(part) > 0 for part in jax.tree.leaves(self))

    def take_row(self, row: int) -> Any:
        return self._map(lambda part: part.take_row(row) if isinstance(part, CompositeTensor) else part[row, ...])

    def take_rows(self, rows: Any) -> Any:
        return self._map(lambda part: part.take_rows(rows) if isinstance(part, CompositeTensor) else part[rows])

    @classmethod
    def stack_leaves(cls, leaves: Sequence[Any]) -> Any:
        def stack(*parts: Any) -> Any:
            if isinstance(parts[0], CompositeTensor):
                return type(parts[0]).stack_leaves(parts)
            return jnp.stack(parts) if isinstance(parts[0], jax.Array) else np.stack(parts)

        return cls._combine(leaves, stack)

    @classmethod
    def concatenate_leaves(cls, leaves: Sequence[Any]) -> Any:
        def concatenate(*parts: Any) -> Any:
            first = parts[0]
            return (
                type(first).concatenate_leaves(parts) if isinstance(first, CompositeTensor) else np.concatenate(parts)
            )

        return cls._combine(leaves, concatenate)

    def present(self) -> Any:
        return self._map(lambda part: part.present() if isinstance(part, CompositeTensor) else _to_host(part))

    @classmethod
    def _combine(cls, leaves: Sequence[Any], function: Any) -> Any:
        fields = {}
        for name in cls._field_types:
            values = [vars(leaf)[name] for leaf in leaves]
            for value in values[1:]:
                if is_static(values[0]) and value != values[0]:
                    text = DIFFERENT.format(name=cls.__name__, field=name, first=values[0], second=value)
                    raise ValueError(text)
            fields[name] = map_parts(function, *values)
        return _from_fields(cls, fields)

    def _map(self, function: Any) -> Any:
        return _from_fields(type(self), {name: map_parts(function, part) for name, part in self.fields().items()})


def _to_host(part: Any) -> Any:
    return to_host_tensor(part) if isinstance(part, jax.Array | np.ndarray | np.generic) else part


def _own_fields(cls: Any) -> dict[str, Any]:
    """The annotations of this class alone."""
    if cls.__module__ == __name__:  # the base classes of this file have no fields
        return {}
    own = inspect.get_annotations(cls)
    # The name of the class is not bound yet where the class refers to itself: children: tuple["Node", ...].
    holder = type(cls.__name__, (), {"__annotations__": own, "__module__": cls.__module__})
    resolved = typing.get_type_hints(holder, localns={cls.__name__: cls})
    found = {}
    for name in own:
        if typing.get_origin(resolved[name]) is typing.ClassVar or name.startswith("__"):
            continue
        if name in _RESERVED_NAMES or name.startswith("_tf_extension_type"):
            raise ValueError(RESERVED.format(name=cls.__name__, field=name))
        check_annotation(resolved[name], f"{cls.__name__}.{name}")
        found[name] = resolved[name]
    return found


def _parameter(cls: Any, field: str) -> inspect.Parameter:
    default = inspect.getattr_static(cls, field, inspect.Parameter.empty)
    return inspect.Parameter(field, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)


def _flatten(value: Any) -> tuple[list[Any], Any]:
    fields = value.fields()
    static = tuple((name, part) for name, part in fields.items() if is_static(part))
    dynamic = tuple(name for name, part in fields.items() if not is_static(part))
    return [fields[name] for name in dynamic], (static, dynamic)


def _unflatten(cls: Any, static: Any, parts: Any) -> Any:
    items, dynamic = static
    return _from_fields(cls, {**dict(items), **dict(zip(dynamic, parts, strict=True))})


def _from_fields(cls: Any, fields: dict[str, Any]) -> Any:
    """An object with these values, which are not checked: JAX puts other things in place of arrays."""
    made = object.__new__(cls)
    vars(made).update(fields, _is_complete=True)
    return made


class BatchableExtensionType(ExtensionType):
    """An ExtensionType that datasets may batch. Here they may batch every one."""
