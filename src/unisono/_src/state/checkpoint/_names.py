"""Names of variables that are the same in every process that makes the same objects, and whether a value fits one.

Keras numbers names by what else a process has made: "sequential_3/dense_7/kernel" here is "sequential/dense/kernel"
elsewhere. Within one object the order is always the same, so each base of a name is numbered again by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import keras

from unisono._src.keras_hooks import raw_value, trained_variables
from unisono._src.state.checkpoint._tree import holds_variables, join_path, leaves

_NUMBERED = re.compile(r"(.+?)((?:_\d+)+)")


class Attached(NamedTuple):
    """An optimizer that a model holds: the one that was given to `compile`, say."""

    path: str
    optimizer: Any
    model: Any


def named_variables(objects: Mapping[str, Any]) -> dict[str, Any]:
    """All variables of ``objects``, each once, by names such as "model/dense_1/kernel" and "optimizer/iteration".

    A model's are its weights, its seeds, "model/metrics/...", and optimizers that it holds, where those are not among
    ``objects`` themselves. What is not a Keras object is skipped.

    >>> import keras
    >>> _ = keras.layers.Dense(1), keras.layers.Dense(1)  # now Keras's own names continue with dense_2
    >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3), keras.layers.Dense(1)])
    >>> optimizer = keras.optimizers.SGD(momentum=0.9)
    >>> optimizer.build(model.trainable_variables)
    >>> list(named_variables({"model": model, "optimizer": optimizer}))[:4]
    ['model/dense/kernel', 'model/dense/bias', 'model/dense_1/kernel', 'model/dense_1/bias']
    >>> list(named_variables({"model": model, "optimizer": optimizer}))[-1]
    'optimizer/dense_1/bias/momentum'
    """
    holders = [(path, leaf) for path, leaf in leaves(objects) if holds_variables(leaf)]
    optimizers = [(path, leaf) for path, leaf in holders if isinstance(leaf, keras.optimizers.Optimizer)]
    optimizers += [(path, optimizer) for path, optimizer, _ in attached_optimizers(objects)]
    named = _NameTable()
    for path, holder in holders:
        if not isinstance(holder, keras.optimizers.Optimizer):
            named.add_all(path, *_variables(holder))
    for path, holder in holders:
        if isinstance(holder, keras.Layer):
            metrics = list(holder.metrics_variables)
            named.add_all(metrics_path(path), metrics, canonical_names([each.path for each in metrics], None))
    for path, optimizer in optimizers:
        _add_optimizer(named, path, optimizer)
    return named.variables


def metrics_path(model_path: str) -> str:
    """The path of the metrics of a model, which are not in `model.variables`."""
    return join_path(model_path, "metrics")


def attached_optimizers(objects: Mapping[str, Any]) -> Iterator[Attached]:
    """The optimizers that models among ``objects`` hold, without those that are themselves among ``objects``."""
    every = list(leaves(objects))
    explicit = {id(leaf) for _, leaf in every}
    for path, model in every:
        if not isinstance(model, keras.Model):
            continue
        for name, value in vars(model).items():
            if isinstance(value, keras.optimizers.Optimizer) and id(value) not in explicit:
                explicit.add(id(value))
                yield Attached(join_path(path, name.lstrip("_")), value, model)


def canonical_names(paths: Sequence[str], own_name: str | None) -> list[str]:
    """The paths of one object's variables, without the object's own name, and numbered from 0 again.

    >>> canonical_names(["net_3/dense_7/kernel", "net_3/dense_8/kernel", "net_3/out/kernel"], "net_3")
    ['dense/kernel', 'dense_1/kernel', 'out/kernel']
    """
    known: dict[str, dict[str, int]] = {}

    def renumber(component: str) -> str:
        numbered = _NUMBERED.fullmatch(component)
        base = numbered[1] if numbered else component
        numbers = known.setdefault(base, {})
        number = numbers.setdefault(component, len(numbers))
        return f"{base}_{number}" if number else base

    names = []
    for path in paths:
        components = path.split("/")
        if len(components) > 1 and components[0] == own_name:
            del components[0]
        names.append("/".join(map(renumber, components)))
    return names


def describe_mismatch(name: str, variable: Any, array: Any) -> str | None:
    """What is wrong with ``array`` as the value of the variable ``name``; None if it fits."""
    if tuple(array.shape) != tuple(variable.shape):
        shapes = f"{tuple(variable.shape)} here and {tuple(array.shape)} in the checkpoint"
        return f"the variable {name} has the shape {shapes}"
    here, there = raw_value(variable).dtype.name, array.dtype.name
    return None if here == there else f"the variable {name} is {here} here, {there} in the checkpoint"


class _NameTable:
    """The variables by name, each once, and what each name is made of."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        self.origins: dict[int, tuple[str, str]] = {}
        """By the identity of a variable: the path of the object, and the name within it, if it is not itself that."""

    def add_all(self, path: str, variables: Sequence[Any], names: Sequence[str]) -> None:
        for variable, name in zip(variables, names, strict=True):
            if id(variable) in self.origins:
                continue
            wanted, number = join_path(path, name), 0
            unique = wanted
            while unique in self.variables:
                number += 1
                unique = f"{wanted}~{number}"
            self.variables[unique] = variable
            self.origins[id(variable)] = (path, unique.removeprefix(path).removeprefix("/"))


def _variables(holder: Any) -> tuple[list[Any], list[str]]:
    """The variables of anything but an optimizer, without a model's metrics, and their names."""
    if isinstance(holder, keras.Variable):
        return [holder], [""]
    if isinstance(holder, keras.random.SeedGenerator):
        return [holder.state], ["state"]
    variables = list(holder.variables)
    return variables, canonical_names([each.path for each in variables], holder.name)


def _add_optimizer(named: _NameTable, path: str, optimizer: Any) -> None:
    inner = getattr(optimizer, "inner_optimizer", None)  # of a LossScaleOptimizer
    variables = list(optimizer.variables)
    if inner is not None:
        theirs = {id(variable) for variable in inner.variables}
        variables = [variable for variable in variables if id(variable) not in theirs]
    slots = _slot_names(variables, trained_variables(optimizer), named)
    plain = [variable for variable in variables if id(variable) not in slots]
    names = (
        dict(zip(map(id, plain), canonical_names([each.path for each in plain], optimizer.name), strict=True)) | slots
    )
    named.add_all(path, variables, [names[id(variable)] for variable in variables])
    if inner is not None:
        _add_optimizer(named, join_path(path, "inner_optimizer"), inner)


def _slot_names(variables: Sequence[Any], trained: Sequence[Any], named: _NameTable) -> dict[int, str]:
    """What an optimizer keeps for each variable that it trains, as "dense/kernel/momentum".

    Keras calls it by the path of that variable with "/" replaced, and then the role.
    """
    by_prefix: dict[str, list[Any]] = {}
    for variable in trained:
        by_prefix.setdefault(variable.path.replace("/", "_") + "_", []).append(variable)
    names = _reference_names(trained, named)
    times_seen: dict[str, int] = {}
    found = {}
    for variable in variables:
        prefix = max((each for each in by_prefix if variable.name.startswith(each)), key=len, default=None)
        if prefix is None:
            continue
        # Two variables may have one path; their slots come in the same order.
        index = times_seen[variable.name] = times_seen.get(variable.name, -1) + 1
        same_path = by_prefix[prefix]
        reference = same_path[min(index, len(same_path) - 1)]
        found[id(variable)] = f"{names[id(reference)]}/{variable.name.removeprefix(prefix)}"
    return found


def _reference_names(trained: Sequence[Any], named: _NameTable) -> dict[int, str]:
    """The names of the trained variables in the names of slots: those in their model, if that is known."""
    known = {id(each): named.origins[id(each)] for each in trained if id(each) in named.origins}
    one_model = len({path for path, _ in known.values()}) <= 1
    names = {key: name if name and one_model else join_path(path, name) for key, (path, name) in known.items()}
    rest = [each for each in trained if id(each) not in known]
    first = {each.path.split("/")[0] for each in rest}
    own_name = first.pop() if len(first) == 1 else None
    return names | dict(zip(map(id, rest), canonical_names([each.path for each in rest], own_name), strict=True))
