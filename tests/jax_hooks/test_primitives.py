"""The names of primitives that the passes over traced programs look for are those that JAX gives them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.ad_checkpoint import checkpoint_name
from jax.extend.core import primitives
from jax.interpreters import mlir
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from unisono._src import hooks
from unisono._src.jax_hooks import _equations, _primitives
from unisono._src.jax_hooks import _partitioning as partitioning

X = jnp.linspace(0.1, 0.4, 4)
IMAGE = jnp.ones((1, 4, 4, 1))
ROWS = jnp.zeros((1, 1), jnp.int32)
SCATTER = jax.lax.ScatterDimensionNumbers((), (0,), (0,))


def _pool(x: Any) -> Any:
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (2,), (1,), "VALID")


def _over_replicas(function: Any) -> Any:
    mesh = Mesh(jax.devices()[:2], "replica")
    spec = PartitionSpec("replica")
    return jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)


def _constrain(x: Any) -> Any:
    return jax.lax.with_sharding_constraint(x, NamedSharding(Mesh(jax.devices()[:1], "x"), PartitionSpec()))


@jax.custom_vjp
def _with_vjp(x: Any) -> Any:
    return x


_with_vjp.defvjp(lambda x: (x, None), lambda _, upstream: (upstream,))


@jax.custom_jvp
def _with_jvp(x: Any) -> Any:
    return x


_with_jvp.defjvp(lambda primals, tangents: (primals[0], tangents[0]))

# For each name that is not that of a function of jax.lax with one or two operands: what JAX makes such an equation of.
PROGRAMS: dict[str, Any] = {
    "add_any": jax.grad(lambda x: (jnp.sin(x) * x).sum()),
    "and": lambda x: (x > 0) & (x < 1),
    "axis_index": _over_replicas(lambda x: x + jax.lax.axis_index("replica")),
    "broadcast_in_dim": lambda x: jnp.broadcast_to(x, (2, 4)),
    "clamp": lambda x: jax.lax.clamp(0.0, x, 1.0),
    "cond": lambda x: jax.lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
    "conv_general_dilated": lambda x: jax.lax.conv(IMAGE, IMAGE, (1, 1), "SAME"),
    "convert_element_type": lambda x: x.astype("int32"),
    "copy": jnp.copy,
    "custom_jvp_call": _with_jvp,
    "custom_linear_solve": lambda x: jax.lax.custom_linear_solve(lambda v: v, x, lambda _, b: b, lambda _, b: b),
    "custom_vjp_call": _with_vjp,
    "debug_callback": lambda x: jax.debug.callback(print, x),
    "debug_print": lambda x: jax.debug.print("{}", x),
    "dot_general": lambda x: x @ x,
    "integer_pow": lambda x: x**3,
    "io_callback": lambda x: jax.experimental.io_callback(lambda x: x, x, x),
    "iota": lambda x: jnp.arange(3),
    "jit": lambda x: jax.jit(jnp.sin)(x),
    "name": lambda x: checkpoint_name(x, "gradient"),
    "not": lambda x: ~(x > 0),
    "or": lambda x: (x > 0) | (x < 1),
    "psum": _over_replicas(lambda x: jax.lax.psum(x, "replica")),
    "pure_callback": lambda x: jax.pure_callback(lambda x: x, x, x),
    "reduce_precision": lambda x: jax.lax.reduce_precision(x, 8, 7),
    "reduce_sum": jnp.sum,
    "remat2": jax.checkpoint(jnp.sin),
    "reshape": lambda x: x.reshape(2, 2),
    "scan": lambda x: jax.lax.scan(lambda total, row: (total + row, row), 0.0, x),
    "scatter": lambda x: x.at[0].set(1.0),
    "scatter-add": jax.grad(lambda x: x[jnp.array([0, 0])].sum()),
    "scatter-max": lambda x: x.at[0].max(1.0),
    "scatter-min": lambda x: x.at[0].min(1.0),
    "scatter-mul": lambda x: x.at[0].multiply(1.0),
    "scatter-sub": lambda x: jax.lax.scatter_sub(x, ROWS, X[:1], SCATTER),
    "select_and_gather_add": lambda x: jax.jvp(_pool, (x,), (x,)),
    "select_and_scatter_add": jax.grad(lambda x: _pool(x).sum()),
    "select_n": lambda x: jnp.where(x > 0, x, 1.0),
    "sharding_constraint": _constrain,
    "slice": lambda x: x[1:3],
    "squeeze": lambda x: jnp.squeeze(x[:, None], 1),
    "stop_gradient": jax.lax.stop_gradient,
    "transpose": lambda x: jnp.outer(x, x).T,
    "while": lambda x: jax.lax.while_loop(lambda x: x[0] < 1.0, lambda x: x + 1.0, x),
    "xor": lambda x: (x > 0) ^ (x < 1),
}
# JAX makes this one of calls in rules of derivatives.
WITHOUT_PROGRAM = {"closed_call": primitives.closed_call_p}

REQUIRED = {each.name: each for each in hooks.registered_hooks() if each.expects[:1] == (f"primitive {each.name}",)}


@pytest.mark.parametrize("name", REQUIRED)
def test_jax_gives_the_operation_the_name_that_is_looked_for(name: str) -> None:
    if name in WITHOUT_PROGRAM:
        found = {WITHOUT_PROGRAM[name].name}
    else:
        function = PROGRAMS.get(name) or _elementwise(name)
        found = set(_equations.primitive_names(jax.make_jaxpr(function)(X).jaxpr))
    assert found & {each.removeprefix("primitive ") for each in REQUIRED[name].expects}, found


def _elementwise(name: str) -> Any:
    function = getattr(jax.lax, name)
    return function if name in _ONE_OPERAND else lambda x: function(x, x)


_ONE_OPERAND = (
    *("abs", "cos", "exp", "exp2", "expm1", "is_finite", "log", "log1p", "logistic", "neg", "rsqrt", "sign", "sin"),
    *("sqrt", "square", "tanh"),
)


@pytest.mark.parametrize("name", REQUIRED)
def test_a_primitive_that_jax_has_renamed_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = REQUIRED[name]
    renamed = 0
    for table in (mlir._lowerings, *mlir._platform_specific_lowerings.values()):
        for primitive in table:
            if f"primitive {primitive.name}" in hook.expects:
                monkeypatch.setattr(primitive, "name", "renamed")
                renamed += 1
    assert renamed
    monkeypatch.setattr(hooks._registry, "_registered", [])
    monkeypatch.setattr(hooks._registry, "_unchecked_primitives", [hook])
    version = re.escape(jax.__version__)
    expected = rf"(?s)Primitive.{name} \({hook.file}\).* JAX {version}.*written for\nJAX 0\.10\.2.*{hook.expects[0]}"
    with pytest.raises(hooks.HookMismatchError, match=expected):
        _primitives.check_primitives()


def test_every_primitive_was_checked() -> None:
    assert not hooks._registry._unchecked_primitives
    assert len(REQUIRED) > 60


def test_every_scatter_of_jax_is_known() -> None:
    scatters = {name for name in _primitives.installed_primitives() if re.match("scatter([-_]|$)", name)}
    assert scatters == partitioning._SCATTERS


def test_names_of_primitives_are_compared_only_if_they_are_required() -> None:
    source = Path(_primitives.__file__).parents[2]
    compared = re.compile(
        r"primitive\.name\s*(==|!=|in|not in)\s*[\"'(\[{]|primitive\.name\.|match \w+\.primitive\.name"
    )
    files = list(source.rglob("*.py"))
    assert len(files) > 100
    found = [
        f"{path.relative_to(source)}: {line}"
        for path in files
        for line in path.read_text().splitlines()
        if compared.search(line)
    ]
    assert not found, "give the name to hooks.require_primitives, and compare with what it returns"
