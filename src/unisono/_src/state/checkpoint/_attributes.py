"""Names of variables by the attributes that lead to them: "net/l1/kernel" for what is "net/dense/kernel" by layers.

TensorFlow knows only these names. Here they find variables that are not found by the names of layers: those of a layer
that has another name now, or of a checkpoint that uses attributes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

import keras

from unisono._src.state.checkpoint._names import named_variables
from unisono._src.state.checkpoint._tree import join_path, leaves
from unisono._src.state.store import JSON

ATTRIBUTES: Final = "attributes"
"""The key of these names in the state of a checkpoint."""


def names_by_attributes(state: JSON) -> dict[str, str]:
    """The names that :func:`variable_names_by_attribute` stored in ``state``; empty if there are none."""
    names = state.get(ATTRIBUTES) if isinstance(state, dict) else None
    return dict(names) if isinstance(names, dict) else {}


def variable_names_by_attribute(objects: Mapping[str, Any]) -> dict[str, JSON]:
    """For each variable, by the attributes that lead to it: the name under which its value is stored.

    >>> class Net(keras.Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.l1 = keras.layers.Dense(1)
    >>> net = Net()
    >>> net.l1.build((None, 2))
    >>> variable_names_by_attribute({"net": net})
    {'net/l1/kernel': 'net/dense/kernel', 'net/l1/bias': 'net/dense/bias'}
    """
    names = {id(variable): name for name, variable in named_variables(objects).items()}
    # A variable that several lists and dicts contain is stored once; here it has the other names too.
    alone = [(path, leaf) for path, leaf in leaves(objects) if isinstance(leaf, keras.Variable)]
    found = [*_walk_variables(objects), *((path, leaf) for path, leaf in alone if names.get(id(leaf)) != path)]
    return {path: names[id(variable)] for path, variable in found if id(variable) in names}


def match_by_attributes(
    objects: Mapping[str, Any], wanted: Mapping[str, Any], arrays: Mapping[str, Any], names: Mapping[str, str]
) -> dict[str, str]:
    """For each of the variables ``wanted``, by name: the name in ``arrays`` to which the same attributes lead.

    Args:
        objects: the objects that are restored.
        wanted: the variables of ``objects`` that are not found by their names.
        arrays: the values that belong to no other variable.
        names: the names of the values, by attributes.
    """
    if not wanted:
        return {}
    paths = {id(variable): path for path, variable in _walk_variables(objects)}
    found = {name: names.get(name, name) for name in wanted}
    found = {name: there for name, there in found.items() if there in arrays}
    taken = set(found.values())
    for name, variable in wanted.items():
        there = names.get(paths.get(id(variable), ""), "")
        if name not in found and there in arrays and there not in taken:
            found[name] = there
            taken.add(there)
    return found


def _walk_variables(objects: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The variables in the layers among ``objects``, by attributes; of several paths to one the shortest."""
    waiting = deque((path, leaf) for path, leaf in leaves(objects) if isinstance(leaf, keras.Layer))
    seen = {id(layer) for _, layer in waiting}
    while waiting:
        path, outer = waiting.popleft()
        for name, value in _items(outer):
            inner = join_path(path, name)
            if id(value) in seen:
                continue
            if isinstance(value, keras.Variable):
                yield inner, value
            elif isinstance(value, keras.random.SeedGenerator):
                yield join_path(inner, "state"), value.state
            elif isinstance(value, keras.Layer | Mapping | list | tuple):
                waiting.append((inner, value))
            else:
                continue
            seen.add(id(value))


def _items(container: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(container, keras.Layer):
        for name, value in vars(container).items():
            # `_kernel` is the kernel. Keras's own lists, such as `_layers`, repeat what other attributes name.
            if not (name.startswith("_") and isinstance(value, Mapping | list | tuple)):
                yield name.lstrip("_"), value
    elif isinstance(container, Mapping):
        yield from ((str(key), value) for key, value in container.items())
    else:
        yield from ((str(index), value) for index, value in enumerate(container))
