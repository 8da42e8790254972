"""Deferred restoration: variables get their values from a checkpoint when they become attributes, or items of lists."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Final

import jax
import optree

from unisono._src import keras_hooks
from unisono._src.state.checkpoint import DeferredValues, Group, LoadStatus, Restored, join_path
from unisono._src.state.store import LoadedCheckpoint

IN_A_FUNCTION = """{path!r} is created while a function is traced, and the checkpoint that was restored before has a
value for it, which cannot be restored there. Call the object once outside of the function, or before `restore`."""

_LIST_METHODS: Final = ("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse")
_DICT_METHODS: Final = ("update", "setdefault", "pop", "popitem", "clear")
_ITEM_METHODS: Final = ("__setitem__", "__delitem__")

# By identity, for each checkpoint and module that is alive: a reference to it, the values, and its path in these.
_deferred: dict[int, tuple[weakref.ref[Any], DeferredValues, str]] = {}


def defer_unused_values(root: Any, loaded: LoadedCheckpoint, status: LoadStatus) -> None:
    """Keeps what `restore` had no object for, until ``root`` or an object inside gets one."""
    if isinstance(status, Restored) and status.unused:
        reference = weakref.ref(root)  # the values may be kept by an inner object, which would keep the root
        values = DeferredValues(lambda: getattr(reference(), "_objects", {}), loaded, status)
        _attach(values, "", root)


def restore_deferred(holder: Any, name: str, value: Any) -> Any:
    """Restores what is in ``value``, which is now the attribute ``name``; returns what to keep there."""
    if id(holder) not in _deferred:
        return value
    _, values, path = _deferred[id(holder)]
    inner = join_path(path, name)
    value = _attach(values, inner, value)
    _restore(values, inner, value)
    return value


def _restore(values: DeferredValues, path: str, value: Any) -> None:
    if not values.concern(path):
        return
    if keras_hooks.in_stateless_scope():
        if values.has_values_inside(path) or values.has_value(path):
            raise RuntimeError(IN_A_FUNCTION.format(path=path))
        return
    values.restore(path, value)


def _attach(values: DeferredValues, path: str, value: Any) -> Any:
    """Lets objects inside ``value`` restore what they get later. Returns ``value``, or what to use in its place."""
    if isinstance(value, Group):
        number = id(value)
        if number in _deferred and _deferred[number][1] is values:
            return value
        _deferred[number] = weakref.ref(value, lambda _: _deferred.pop(number, None)), values, path
        items = vars(value).get("_objects", vars(value))
        for name, item in list(items.items()):
            items[name] = _attach(values, join_path(path, name), item)
        return value
    if isinstance(value, _TrackedList | _TrackedDict) or not values.has_values_inside(path):
        return value
    if type(value) is list:
        return _TrackedList(value, values, path)
    return _TrackedDict(value, values, path) if type(value) is dict else value


class _TrackedList(list[Any]):
    """A list that restores what is added to it. The list that it was made from changes with it, as in TensorFlow.

    Without deferred values it is a plain list: nests are rebuilt by the class of what they were.
    """

    def __new__(cls, original: Iterable[Any] = (), values: DeferredValues | None = None, path: str = "") -> Any:
        return list(original) if values is None else super().__new__(cls)

    def __init__(self, original: list[Any], values: DeferredValues, path: str) -> None:
        self._original, self._values, self._path = original, values, path
        self._reload()

    def _reload(self) -> None:
        items = self._original
        items[:] = [_attach(self._values, join_path(self._path, str(n)), item) for n, item in enumerate(items)]
        list.__setitem__(self, slice(None), items)

    def __iadd__(self, items: Any) -> Any:  # type: ignore[misc]
        self.extend(items)
        return self

    def __reduce__(self) -> Any:
        return list, (list(self),)


class _TrackedDict(dict[str, Any]):
    """A dict that restores what is added to it. The dict that it was made from changes with it, as in TensorFlow.

    Without deferred values it is a plain dict: nests are rebuilt by the class of what they were.
    """

    def __new__(cls, original: Any = (), values: DeferredValues | None = None, path: str = "") -> Any:
        return dict(original) if values is None else super().__new__(cls)

    def __init__(self, original: dict[str, Any], values: DeferredValues, path: str) -> None:
        self._original, self._values, self._path = original, values, path
        self._reload()

    def _reload(self) -> None:
        items = self._original
        for name, item in items.items():
            items[name] = _attach(self._values, join_path(self._path, str(name)), item)
        dict.clear(self)
        dict.update(self, items)

    def __ior__(self, items: Any) -> Any:  # type: ignore[misc]
        self.update(items)
        return self

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def _change_both(method: Any) -> Callable[..., Any]:
    @functools.wraps(method)
    def change(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(self._original, *args, **kwargs)
        self._reload()
        _restore(self._values, self._path, self)
        return result

    return change


for _name in (*_LIST_METHODS, *_ITEM_METHODS):
    setattr(_TrackedList, _name, _change_both(getattr(list, _name)))
for _name in (*_DICT_METHODS, *_ITEM_METHODS):
    setattr(_TrackedDict, _name, _change_both(getattr(dict, _name)))


def _rebuild_list(_: Any, items: Iterable[Any]) -> Any:
    return list(items)


def _open_dict(items: Any) -> Any:
    return tuple(items[name] for name in sorted(items)), tuple(sorted(items))


def _rebuild_dict(names: Any, items: Iterable[Any]) -> Any:
    return dict(zip(names, items, strict=True))


# For JAX and Keras, whose nests are optree's with this namespace, they are a list and a dict: other subclasses would be
# leaves.
jax.tree_util.register_pytree_with_keys(
    _TrackedList,
    lambda items: ([(jax.tree_util.SequenceKey(n), item) for n, item in enumerate(items)], None),
    _rebuild_list,
)
jax.tree_util.register_pytree_with_keys(
    _TrackedDict,
    lambda items: ([(jax.tree_util.DictKey(name), items[name]) for name in sorted(items)], tuple(sorted(items))),
    _rebuild_dict,
)
optree.register_pytree_node(_TrackedList, lambda items: (tuple(items), None), _rebuild_list, namespace="keras")
optree.register_pytree_node(_TrackedDict, _open_dict, _rebuild_dict, namespace="keras")
