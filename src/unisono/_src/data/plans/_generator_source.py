"""from_generator: elements that a Python function yields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono._src.data.files import bytes_scalar
from unisono._src.data.plans._arguments import function_name
from unisono._src.data.plans._composite_leaf import CompositeLeaf, CompositeSpec
from unisono._src.data.plans._identity import ComputedElement, pass_number, set_identity
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest, flatten, leaf_names, map_leaves, structure, unflatten
from unisono._src.data.plans._operation import UNKNOWN_CARDINALITY, Deferred, Elements, PassId, State
from unisono._src.data.plans._passes import next_or_raise
from unisono._src.data.plans._source import Source
from unisono._src.data.plans._spec import TensorSpec


@dataclass(frozen=True)
class ElementSignature:
    """What every element must look like: the shape (None: any length) and dtype of each leaf."""

    like: Nest
    shapes: tuple[tuple[int | None, ...], ...]
    dtypes: tuple[np.dtype[Any], ...]
    given: bool = True
    """Whether the user wrote it. If not, it is taken from the first element."""
    composites: tuple[CompositeSpec | None, ...] = ()
    """The specs of leaves that are not one array; empty if all are."""

    @staticmethod
    def from_arguments(specs: Nest, types: Nest, shapes: Nest) -> ElementSignature | None:
        """From `output_signature`, or from TensorFlow 1's `output_types` and `output_shapes`."""
        if specs is None and types is None:
            return None
        if specs is not None:
            leaves = flatten(specs)
            if not all(hasattr(spec, "shape") and hasattr(spec, "dtype") for spec in leaves):
                raise TypeError(f"from_generator: output_signature is a nest of TensorSpec, but it is {specs!r}.")
            dtypes = tuple(TensorSpec((), spec.dtype).dtype for spec in leaves)
            composites = tuple(spec if isinstance(spec, CompositeSpec) else None for spec in leaves)
            return ElementSignature(
                structure(specs),
                tuple(tuple(spec.shape) for spec in leaves),
                dtypes,
                composites=composites if any(composites) else (),
            )
        if shapes is None:
            raise ValueError(
                "from_generator: output_types without output_shapes says too little. Write "
                "output_signature=TensorSpec(shape, dtype), with None for dims that vary."
            )
        dtypes = tuple(TensorSpec((), dtype).dtype for dtype in flatten(types))
        return ElementSignature(structure(types), tuple(_flatten_shapes(types, shapes)), dtypes)

    def as_spec(self) -> Nest:
        """The same as a nest of TensorSpec."""
        pairs = zip(self.shapes, self.dtypes, strict=True)
        specs: list[Any] = [TensorSpec(shape, dtype) for shape, dtype in pairs]
        for number, composite in enumerate(self.composites):
            specs[number] = specs[number] if composite is None else composite
        return unflatten(self.like, specs)


def _flatten_shapes(types: Nest, shapes: Any) -> list[tuple[int | None, ...]]:
    """The shape of each leaf of `types`: shapes are tuples themselves, so `types` says where the leaves are."""
    if isinstance(types, dict):
        return [shape for key in sorted(types) for shape in _flatten_shapes(types[key], shapes[key])]
    if isinstance(types, tuple | list):
        return [shape for one, part in zip(types, shapes, strict=True) for shape in _flatten_shapes(one, part)]
    return [tuple(None if dim is None else int(np.asarray(dim)) for dim in shapes)]


@dataclass(frozen=True, eq=False)
class GeneratorSource(Source):
    """Each pass calls `function` and yields what it yields.

    A generator cannot be set to a position, so restoring a pass runs it again up to there.
    """

    random_access = False

    function: Callable[[], Iterable[Nest]]
    signature: ElementSignature | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(
                f"from_generator: expected a function that returns an iterator, got {type(self.function).__name__}. "
                f"A generator runs once and a dataset many times: write from_generator(lambda: rows()), or pass "
                f"the function itself without calling it."
            )

    @property
    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def elements(self, pass_id: PassId) -> Elements:
        return _GeneratorElements(self, pass_number(pass_id))

    def element_spec(self, inspection: Inspection) -> Nest:
        return inspection.observe() if self.signature is None else self.signature.as_spec()

    def __str__(self) -> str:
        return f"from_generator({function_name(self.function)})"


class _GeneratorElements(Elements):
    def __init__(self, source: GeneratorSource, epoch: int) -> None:
        self._source, self._epoch = source, epoch
        self._signature = source.signature
        self._iterator: Iterator[Nest] | None = None
        self._position = 0

    def __next__(self) -> Deferred:
        if self._iterator is None:
            self._iterator = iter(self._source.function())
        value = next(self._iterator)
        if self._signature is None:
            element = map_leaves(_as_array, value)
            self._signature = _infer_signature(element)
        else:
            element = _conform(value, self._signature, self._source, self._position)
        set_identity(self._epoch, self._position)
        self._position += 1
        return ComputedElement(element)

    def get_state(self) -> State:
        return self._position

    def set_state(self, state: State) -> None:
        self.close()
        for _ in range(state):
            next_or_raise(self)

    def close(self) -> None:
        iterator, self._iterator, self._position = self._iterator, None, 0
        close = getattr(iterator, "close", None)
        if close is not None:
            close()


def _infer_signature(element: Nest) -> ElementSignature:
    """The signature of elements that all look like this one."""
    leaves = flatten(element)
    return ElementSignature(
        structure(element), tuple(leaf.shape for leaf in leaves), tuple(leaf.dtype for leaf in leaves), given=False
    )


def _as_array(leaf: Any) -> Any:
    if isinstance(leaf, CompositeLeaf):
        return leaf.to_host()
    # A copy: many generators reuse one buffer for all elements.
    return bytes_scalar(leaf) if isinstance(leaf, bytes) else np.array(leaf)


def _conform(value: Nest, signature: ElementSignature, source: GeneratorSource, position: int) -> Nest:
    """The element with the dtypes of the signature; an error that names the leaf if it does not fit."""
    if signature.given:  # a list where the signature has one leaf is data
        leaves = list(_flatten_like(signature.like, value, source, position))
    else:
        if structure(value) != signature.like:
            raise _mismatch_error(
                source, position, f"has the structure {structure(value)}", f"{signature.like}", signature
            )
        leaves = flatten(value)
    arrays: list[Any] = []
    for leaf, shape, dtype in zip(leaves, signature.shapes, signature.dtypes, strict=True):
        composite = signature.composites[len(arrays)] if signature.composites else None
        if composite is not None:
            arrays.append(composite.check(leaf, f"{source}: element {position}"))
            continue
        if isinstance(leaf, CompositeLeaf) and not signature.given:  # the rows of each element are its own
            arrays.append(leaf.to_host())
            continue
        array: np.ndarray[Any, Any] | None = _as_array(leaf)
        assert array is not None
        if array.dtype != dtype and not (dtype.kind == array.dtype.kind and dtype.kind in "US"):
            found, array = array.dtype, _cast(array, dtype)
            if array is None:
                name = leaf_names(signature.like, "element")[len(arrays)]
                raise _mismatch_error(source, position, f"has {name} of dtype {found}", f"{dtype}", signature)
        if array.shape != shape and not _fits(array.shape, shape):
            name = leaf_names(signature.like, "element")[len(arrays)]
            raise _mismatch_error(source, position, f"has {name} of shape {array.shape}", f"{shape}", signature)
        arrays.append(array)
    return unflatten(signature.like, arrays)


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(want in (None, have) for have, want in zip(shape, wanted, strict=True))


def _flatten_like(like: Nest, value: Nest, source: GeneratorSource, position: int) -> Iterator[Any]:
    if like is ...:
        yield value
        return
    same = (
        isinstance(value, dict) and set(value) == set(like)
        if isinstance(like, dict)
        else (isinstance(value, tuple | list) and len(value) == len(like))
    )
    if not same:
        raise TypeError(
            f"{source}: element {position} is {type(value).__name__} {structure(value)}, but output_signature has "
            f"the structure {like}. Yield that structure, or change output_signature."
        )
    for key in sorted(like) if isinstance(like, dict) else range(len(like)):
        yield from _flatten_like(like[key], value[key], source, position)


def _cast(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any] | None:
    """The array with this dtype, if nothing but precision is lost by it."""
    if dtype.hasobject:
        texts = [item.encode() if isinstance(item, str) else item for item in array.ravel().tolist()]
        whole = np.empty(len(texts), object)
        whole[:] = texts
        return whole.reshape(array.shape) if array.dtype.kind in "US" else None
    if array.dtype.kind not in "biufc" or dtype.kind not in "biufcV" or (array.dtype.kind == "c" and dtype.kind != "c"):
        return None
    with np.errstate(all="ignore"):
        cast = array.astype(dtype)
    return cast if dtype.kind not in "biu" or np.array_equal(cast, array) else None


def _mismatch_error(
    source: GeneratorSource, position: int, found: str, expected: str, signature: ElementSignature
) -> TypeError:
    remedy = (
        "Yield such elements, or change output_signature."
        if signature.given
        else "The first element decides when there is no output_signature. If lengths vary, write "
        "output_signature=TensorSpec((None,), dtype)."
    )
    return TypeError(f"{source}: element {position} {found}, but {expected} was expected. {remedy}")
