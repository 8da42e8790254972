"""The gradient of large logits is written over the logits.

The gradient is an element-wise function of the logits, which nothing reads afterwards, so both could have one buffer.
XLA:GPU shares buffers in this way, but not if the first array comes from cuBLAS: a product is a part of a tuple there,
beside its workspace. An update in place has no such condition. So the gradient is computed in a loop over parts of the
logits, and each part replaces the logits that it was computed from. GPT-2 small with 32 rows of 1,024 tokens, whose
logits are 3.1 GiB in bfloat16, takes 14.8 instead of 17.3 GiB on an H200, and not longer.

Over several devices, XLA divides the rows, so the parts are along another dimension, as that of a sequence; logits of
rows alone stay as they are.

Checked against JAX 0.10.2 and 0.11.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from unisono._src import hooks
from unisono._src.jax_hooks._equations import change_equations, inner_jaxprs, replace_by

_MIN_BYTES: Final = 2**28  # smaller ones do not decide whether a model fits
_MAX_PARTS: Final = 8

_WHY: Final = "the gradient of large logits is written over them"
_PRODUCTS: Final = hooks.require_primitives("dot_general", why=_WHY)
_CALLS: Final = hooks.require_primitives(("jit", "pjit"), why=_WHY)
_IOTAS: Final = hooks.require_primitives("iota", why=_WHY)
_BROADCASTS: Final = hooks.require_primitives("broadcast_in_dim", why=_WHY)
_ELEMENT_WISE: Final = hooks.require_primitives(
    *("abs", "add", "add_any", "and", "convert_element_type", "copy", "div", "eq", "exp", "exp2", "expm1"),
    *("ge", "gt", "integer_pow", "is_finite", "le", "log", "log1p", "logistic", "lt", "max", "min", "mul"),
    *("ne", "neg", "not", "or", "pow", "rsqrt", "select_n", "sign", "sqrt", "square", "stop_gradient"),
    *("sub", "tanh", "xor"),
    why=_WHY,
)


def reuse_logits(program: ClosedJaxpr, num_replicas: int, *, min_bytes: int = _MIN_BYTES) -> ClosedJaxpr:
    """``program`` with gradients in the place of the products that they belong to.

    Args:
        program: what all replicas compute together.
        num_replicas: among how many the rows are divided.
        min_bytes: of a product on one replica, else it stays.
    """
    return change_equations(program, lambda jaxpr: _change(jaxpr, num_replicas, min_bytes))


def _change(jaxpr: Jaxpr, num_replicas: int, min_bytes: int) -> list[JaxprEqn]:
    equations = list(jaxpr.eqns)
    for product in [equation.outvars[0] for equation in equations if equation.primitive.name in _PRODUCTS]:
        num_parts = _num_parts(product.aval, num_replicas)
        is_large = _num_bytes(product.aval) >= min_bytes * num_replicas
        if num_parts > 1 and is_large and product not in jaxpr.outvars:
            equations = _overwrite(equations, product, num_parts)
    return equations


def _num_bytes(aval: Any) -> int:
    num_bytes: int = math.prod(aval.shape) * aval.dtype.itemsize
    return num_bytes


def _num_parts(aval: Any, num_replicas: int) -> int:
    """Into how many parts the last dimension but one can be divided evenly."""
    if aval.ndim < (2 if num_replicas == 1 else 3):
        return 1
    size: int = aval.shape[-2]
    return max(number for number in range(1, _MAX_PARTS + 1) if size % number == 0)


def _overwrite(equations: list[JaxprEqn], product: Any, num_parts: int) -> list[JaxprEqn]:
    """``equations``, the last element-wise function of ``product`` that a product reads computed in its place."""
    made_by = {result: equation for equation in equations for result in equation.outvars}
    read_by_products = {
        atom for one in equations if one.primitive.name in _PRODUCTS for atom in one.invars if isinstance(atom, Var)
    }
    for position in reversed(range(len(equations))):
        equation = equations[position]
        result = equation.outvars[0] if len(equation.outvars) == 1 else None
        if result not in read_by_products or result.aval != product.aval:
            continue
        function = _PartFunction(product, result, made_by)
        if function.reads_product:
            independent, dependent = _divide(equations[position + 1 :], result)
            copies = _derived(product, [*equations[:position], *independent])
            is_read_later = any(atom in copies for one in dependent for atom in one.invars if isinstance(atom, Var))
            if is_read_later or any(one.effects for one in independent):  # the order of effects has to stay
                return equations
            return [*equations[:position], *independent, _call(function, equation, num_parts), *dependent]
    return equations


def _divide(equations: list[JaxprEqn], result: Var) -> tuple[list[JaxprEqn], list[JaxprEqn]]:
    """Those that do not depend on ``result``, which can come before it, and the rest."""
    independent, dependent, known = [], [], {result}
    for equation in equations:
        if any(atom in known for atom in equation.invars if isinstance(atom, Var)):
            dependent.append(equation)
            known.update(equation.outvars)
        else:
            independent.append(equation)
    return independent, dependent


def _derived(product: Var, equations: list[JaxprEqn]) -> set[Var]:
    """``product`` and its element-wise functions, which XLA computes from it wherever they are read."""
    derived = {product}
    for equation in equations:
        if _is_element_wise(equation, _shape(product)) and any(
            atom in derived for atom in equation.invars if isinstance(atom, Var)
        ):
            derived.update(equation.outvars)
    return derived


def _is_element_wise(equation: JaxprEqn, shape: tuple[int, ...]) -> bool:
    """Whether every element of the result depends on the elements at the same place, or on smaller arrays."""
    name = equation.primitive.name
    if name in _IOTAS | _BROADCASTS:
        return True
    if name in _CALLS:
        (inner,) = inner_jaxprs(equation)
        return not inner.constvars and all(_is_element_wise(one, shape) for one in inner.eqns)
    return name in _ELEMENT_WISE and all(_broadcasts(_shape(atom), shape) for atom in equation.invars)


def _broadcasts(small: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether an operand of an element-wise operation goes with arrays of ``shape``."""
    return not small or (
        len(small) == len(shape) and all(one in (1, other) for one, other in zip(small, shape, strict=True))
    )


def _shape(atom: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = atom.aval.shape
    return shape


class _PartFunction:
    """``result`` as a function of ``product`` and other arrays, which can be applied to a part of them."""

    def __init__(self, product: Var, result: Var, made_by: dict[Var, JaxprEqn]) -> None:
        self.product, self.result, self._shape = product, result, _shape(product)
        self._equations: list[JaxprEqn] = []
        self.operands: list[Var] = []
        seen: set[Var] = set()
        self._collect(result, made_by, seen)
        self.reads_product = product in seen

    def _collect(self, value: Var, made_by: dict[Var, JaxprEqn], seen: set[Var]) -> None:
        if value in seen:
            return
        seen.add(value)
        equation = made_by.get(value)
        if value is self.product:
            return
        if _shape(value) != self._shape or equation is None or not _is_element_wise(equation, self._shape):
            self.operands.append(value)
            return
        for atom in equation.invars:
            if isinstance(atom, Var):
                self._collect(atom, made_by, seen)
        self._equations.append(equation)

    def apply(self, parts: _Parts, product: Any, operands: Iterable[Any]) -> Any:
        """The part of the result, from the whole arrays."""
        known = dict(zip([self.product, *self.operands], [product, *operands], strict=True))
        parts.evaluate(self._equations, known)
        return known[self.result]


class _Parts:
    """One of equal parts along the last dimension but one."""

    def __init__(self, shape: tuple[int, ...], num_parts: int, number: Any) -> None:
        self._axis = len(shape) - 2
        self._size = shape[self._axis] // num_parts
        self._start = number * self._size
        self._whole = shape
        # An explicit sharding is that of the whole array; without one, XLA chooses it.
        self._new_shape = {"shape": (*shape[: self._axis], self._size, *shape[self._axis + 1 :]), "sharding": None}

    def put(self, array: Any, part: Any) -> Any:
        return jax.lax.dynamic_update_slice_in_dim(array, part, self._start, self._axis)

    def evaluate(self, equations: Iterable[JaxprEqn], known: dict[Var, Any]) -> None:
        """Adds the parts of the results to ``known``, which has parts or whole arrays."""
        for equation in equations:
            operands = [atom.val if isinstance(atom, Literal) else known[atom] for atom in equation.invars]
            known.update(zip(equation.outvars, self._results(equation, operands), strict=True))

    def _results(self, equation: JaxprEqn, operands: list[Any]) -> list[Any]:
        parameters = dict(equation.params)
        name = equation.primitive.name
        if name in _CALLS:
            (inner,) = inner_jaxprs(equation)
            known = dict(zip(inner.invars, operands, strict=True))
            self.evaluate(inner.eqns, known)
            return [atom.val if isinstance(atom, Literal) else known[atom] for atom in inner.outvars]
        if name in _IOTAS and parameters["shape"] == self._whole:
            result = equation.primitive.bind(**parameters | self._new_shape)
            return [result + self._start.astype(result.dtype) if parameters["dimension"] == self._axis else result]
        if name in _BROADCASTS and parameters["shape"] == self._whole:
            dimensions = tuple(parameters["broadcast_dimensions"])
            axis = dimensions.index(self._axis) if self._axis in dimensions else None
            return [equation.primitive.bind(self._take(operands[0], axis), **parameters | self._new_shape)]
        return [equation.primitive.bind(*(self._take(one, self._axis) for one in operands), **parameters)]

    def _take(self, array: Any, axis: int | None) -> Any:
        """The part of an array; the array itself if it has no such dimension, or is a part already."""
        if axis is None or not jax.numpy.ndim(array) or array.shape[axis] != self._whole[self._axis]:
            return array
        return jax.lax.dynamic_slice_in_dim(array, self._start, self._size, axis)


def _call(function: _PartFunction, equation: JaxprEqn, num_parts: int) -> JaxprEqn:
    def overwrite(product: Any, *operands: Any) -> Any:
        def replace_part(number: Any, current: Any) -> Any:
            parts = _Parts(product.shape, num_parts, number)
            return parts.put(current, function.apply(parts, current, operands))

        return jax.lax.fori_loop(0, num_parts, replace_part, product)

    invars: list[Var | Literal] = [function.product, *function.operands]
    return replace_by(equation.replace(invars=invars), overwrite)
