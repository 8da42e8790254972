"""Operations that mix the rows of a batch: what one row becomes depends on the others.

Each takes the rows ``x``, of shape (rows, features), and returns something that can be added to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import unisono  # noqa: F401  # isort: skip  (before keras)
import jax
import jax.numpy as jnp
import keras
from jax import lax
from keras import ops

Operation = Callable[[Any], Any]

GROUPS: Final[dict[str, dict[str, Operation]]] = {}
"""The operations by name, in groups."""


def _rows(x: Any) -> Any:
    """Which of two halves of the values a row belongs to, as a segment number that depends on the values."""
    return ops.cast(x[:, 0] > 0, "int32")


def _gram(x: Any) -> Any:
    """A matrix with a row and a column for each row of the batch; positive definite."""
    return ops.matmul(x, ops.transpose(x)) + 2.0 * jnp.eye(x.shape[0], dtype=x.dtype)


def _covariance(x: Any) -> Any:
    centered = x - ops.mean(x, 0, keepdims=True)
    return ops.matmul(ops.transpose(centered), centered) / x.shape[0] + jnp.eye(x.shape[1], dtype=x.dtype)


def _distances(x: Any) -> Any:
    return ops.sum(ops.square(x[:, None] - x[None]), -1)


GROUPS["sorting"] = {
    "sort": lambda x: ops.sort(x, 0),
    "sort, descending": lambda x: jnp.sort(x, 0, descending=True),
    "sort of one column": lambda x: ops.sort(x[:, 0])[:, None],
    "sort of the transpose": lambda x: ops.transpose(ops.sort(ops.transpose(x), -1)),
    "sort of all values": lambda x: ops.reshape(ops.sort(ops.reshape(x, (-1,))), x.shape),
    "sort, derivative in forward mode": lambda x: jax.jvp(lambda x: jnp.sort(x, 0), (x,), (jnp.cos(x),))[1],
    "argsort and take": lambda x: ops.take(x, ops.argsort(x[:, 0]), axis=0),
    "argsort and take_along_axis": lambda x: ops.take_along_axis(x, ops.argsort(x, 0), axis=0),
    "rank (argsort twice)": lambda x: x * ops.cast(ops.argsort(ops.argsort(x, 0), 0), x.dtype),
    "lexsort": lambda x: jnp.take(x, jnp.lexsort((x[:, 1], x[:, 0])), axis=0),
    "lax.sort with two keys": lambda x: lax.sort((x, x * 2.0, x * 3.0), dimension=0, num_keys=2)[2],
    "top_k": lambda x: ops.transpose(ops.top_k(ops.transpose(x), 1)[0]),
    "top_k of one column": lambda x: ops.top_k(x[:, 0], 2)[0][:1],
    "top_k and take": lambda x: ops.mean(ops.take(x, ops.top_k(x[:, 0], 2)[1], axis=0), 0, keepdims=True),
    "partition": lambda x: jnp.partition(x, 1, axis=0),
    "argpartition and take": lambda x: jnp.take(x, jnp.argpartition(x[:, 0], 1)[1], axis=0)[None],
    "approx_max_k": lambda x: lax.approx_max_k(x, 1, reduction_dimension=0)[0],
    "unique": lambda x: jnp.unique(x[:, 0], size=x.shape[0])[:, None],
    "argmax and take": lambda x: ops.take_along_axis(x, ops.argmax(x, 0, keepdims=True), axis=0),
    "median": lambda x: ops.median(x, 0, keepdims=True),
    "quantile": lambda x: ops.quantile(x, 0.3, axis=0, keepdims=True),
    "nanpercentile": lambda x: jnp.nanpercentile(x, 40.0, axis=0, keepdims=True),
    "searchsorted": lambda x: x * ops.cast(ops.searchsorted(ops.sort(x[:, 0]), x[:, 1]), x.dtype)[:, None],
    "isin": lambda x: x * jnp.isin(x, jnp.abs(x)),
}

GROUPS["counting and segments"] = {
    "segment_sum": lambda x: ops.take(ops.segment_sum(x, _rows(x), num_segments=2), _rows(x), axis=0),
    "segment_sum, sorted": lambda x: jax.ops.segment_sum(
        x, jnp.sort(_rows(x)), num_segments=2, indices_are_sorted=True
    )[:1],
    "segment_max": lambda x: ops.take(ops.segment_max(x, _rows(x), num_segments=2), _rows(x), axis=0),
    "segment_min": lambda x: ops.take(jax.ops.segment_min(x, _rows(x), num_segments=2), _rows(x), axis=0),
    "segment_prod (no gradient)": lambda x: jax.ops.segment_prod(lax.stop_gradient(x), _rows(x), num_segments=2)[:1],
    "bincount": lambda x: x * jnp.bincount(_rows(x), length=2)[:1].astype(x.dtype),
    "bincount, weighted": lambda x: jnp.bincount(_rows(x), weights=x[:, 0], length=2)[:1],
    "histogram": lambda x: x * jnp.histogram(x[:, 0], bins=3)[0][:1].astype(x.dtype),
    "digitize": lambda x: x * jnp.digitize(x, jnp.linspace(-1.0, 1.0, 4)).astype(x.dtype),
    "nonzero of fixed size": lambda x: jnp.take(x, jnp.nonzero(x[:, 0] > 0, size=x.shape[0], fill_value=0)[0], axis=0),
    "compress of fixed size": lambda x: jnp.compress(x[:, 0] > 0, x, axis=0, size=x.shape[0], fill_value=0),
    "one_hot confusion matrix": lambda x: (
        ops.matmul(ops.transpose(ops.one_hot(_rows(x), 2)), ops.one_hot(_rows(x + 0.1), 2))[:1, :1] * x
    ),
}

GROUPS["cumulative"] = {
    "cumsum": lambda x: ops.cumsum(x, axis=0),
    "cumprod": lambda x: ops.cumprod(x, axis=0),
    "cummax": lambda x: lax.cummax(x, 0),
    "cumlogsumexp": lambda x: lax.cumlogsumexp(x, 0),
    "cumsum, reversed": lambda x: lax.cumsum(x, 0, reverse=True),
    "associative_scan": lambda x: ops.associative_scan(lambda a, b: a + b, x, axis=0),
    "associative_scan of pairs": lambda x: lax.associative_scan(
        lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (jnp.tanh(x), x)
    )[1],
    "scan over rows": lambda x: lax.scan(lambda c, row: (jnp.tanh(c + row), c), jnp.zeros(x.shape[1:]), x)[1],
    "scan over rows, reversed": lambda x: ops.scan(
        lambda c, row: (ops.tanh(c + row), c), ops.zeros(x.shape[1:]), x, reverse=True
    )[1],
    "fori_loop over rows": lambda x: lax.fori_loop(
        0, x.shape[0], lambda i, total: total * 0.5 + x[i], jnp.zeros(x.shape[1:])
    )[None],
    "map over rows": lambda x: ops.map(lambda row: row * ops.sum(row), x),
    "vectorized_map over pairs": lambda x: ops.vectorized_map(lambda row: ops.max(x * row, 0), x),
    "diff": lambda x: ops.pad(ops.diff(x, axis=0), ((1, 0), (0, 0))),
    "gradient": lambda x: jnp.gradient(x, axis=0) if x.shape[0] > 1 else x,
    "trapezoid": lambda x: ops.trapezoid(x, axis=0)[None],
    "recurrent layer over rows": lambda x: keras.layers.SimpleRNN(
        4, return_sequences=True, kernel_initializer="ones", recurrent_initializer="ones"
    )(x[None])[0],
}

GROUPS["windows"] = {
    "max_pool": lambda x: ops.max_pool(x[None], 2, 1, "same")[0],
    "max_pool, derivative in forward mode": lambda x: jax.jvp(
        lambda x: ops.max_pool(x[None], 3, 1, "same")[0], (x,), (lax.stop_gradient(jnp.cos(x)),)
    )[1],
    "min of windows with a stride": lambda x: lax.reduce_window(x, jnp.inf, lax.min, (3, 1), (2, 1), "SAME")[:1],
    "average_pool": lambda x: ops.average_pool(x[None], 3, 1, "same")[0],
    "max_pool without overlap": lambda x: ops.max_pool(ops.pad(x, ((0, 2), (0, 0)))[None], 2, 2)[0][:1],
    "reduce_window": lambda x: lax.reduce_window(x, 0.0, lax.add, (3, 1), (1, 1), "SAME"),
    "reduce_window, dilated": lambda x: lax.reduce_window(
        x, 0.0, lax.add, (2, 1), (1, 1), "SAME", window_dilation=(2, 1)
    ),
    "conv": lambda x: ops.conv(x[None], jnp.ones((3, 4, 4)) * 0.1, padding="same")[0],
    "conv, dilated": lambda x: ops.conv(x[None], jnp.ones((2, 4, 4)) * 0.1, padding="same", dilation_rate=2)[0],
    "conv with stride": lambda x: ops.conv(x[None], jnp.ones((3, 4, 4)) * 0.1, strides=2, padding="same")[0][:1],
    "depthwise_conv": lambda x: ops.depthwise_conv(x[None], jnp.ones((3, 4, 1)) * 0.1, padding="same")[0],
    "conv_transpose": lambda x: ops.conv_transpose(x[None], jnp.ones((3, 4, 4)) * 0.1, 2, padding="same")[0][:1],
    "convolve": lambda x: jnp.convolve(x[:, 0], jnp.ones(2), mode="full")[: x.shape[0], None],
    "correlate with itself": lambda x: ops.correlate(x[:, 0], x[:, 1], mode="full")[:1],
    "resize": lambda x: jax.image.resize(x, (x.shape[0] + 2, x.shape[1]), "bilinear")[:1],
    "interp": lambda x: jnp.interp(x, jnp.sort(x[:, 0]), x[:, 1]),
    "local response (shifted sums)": lambda x: x + jnp.roll(x, 1, 0) * 0.5 + jnp.roll(x, -1, 0) * 0.5,
}

GROUPS["moving rows"] = {
    "flip": lambda x: ops.flip(x, 0),
    "roll": lambda x: ops.roll(x, 1, axis=0),
    "roll of all values": lambda x: ops.roll(x, 3),
    "roll by a traced amount": lambda x: jnp.roll(x, jnp.sum(_rows(x)), axis=0),
    "shift by concatenation": lambda x: ops.concatenate([ops.zeros((1, x.shape[1])), x[:-1]], 0),
    "first row": lambda x: x[:1],
    "last row": lambda x: x[-1],
    "all but the first row": lambda x: ops.mean(ops.pad(x[1:], ((1, 0), (0, 0))), 0),
    "every second row": lambda x: ops.sum(x[::2], 0),
    "row of a traced number": lambda x: x[jnp.sum(_rows(x)) % x.shape[0]],
    "slice at a traced start": lambda x: ops.slice(x, (jnp.sum(_rows(x)) % x.shape[0], 0), (1, 4)),
    "take by index": lambda x: ops.take(x, jnp.arange(x.shape[0]) // 2, axis=0),
    "take by unsigned index": lambda x: x.at[jnp.arange(x.shape[0], dtype="uint32") // 2].get(),
    "at.set by unsigned index": lambda x: x.at[jnp.arange(x.shape[0], dtype="uint8")[::-1]].set(x),
    "take_along_axis": lambda x: ops.take_along_axis(x, jnp.zeros((1, 4), "int32"), axis=0),
    "concatenate with itself": lambda x: ops.concatenate([x, ops.flip(x, 0)], 0)[: x.shape[0]],
    "stack and reduce": lambda x: ops.max(ops.stack([x, ops.flip(x, 0)]), 0),
    "tile": lambda x: ops.tile(x, (3, 1))[: x.shape[0]],
    "repeat": lambda x: ops.repeat(x, 2, axis=0)[: x.shape[0]],
    "split": lambda x: ops.split(x, [1], axis=0)[0],
    "pad by reflection": lambda x: ops.pad(x, ((1, 1), (0, 0)), mode="symmetric")[: x.shape[0]],
    "reshape to one column": lambda x: ops.max(ops.reshape(x, (-1, 1)), 0),
    "reshape to another number of rows": lambda x: ops.reshape(
        ops.sort(ops.reshape(x, (2, -1)), 0), (x.shape[0], x.shape[1])
    ),
    "reshape that moves rows": lambda x: ops.reshape(ops.transpose(x), x.shape),
    "slice_update": lambda x: ops.slice_update(x, (0, 1), x[:1, :2]),
    "at.set": lambda x: x.at[0].set(x[-1]),
    "at.add with repeated indices": lambda x: x.at[jnp.arange(x.shape[0]) // 2].add(x),
    "at.max": lambda x: jnp.zeros_like(x).at[_rows(x) % x.shape[0]].max(x),
    "scatter": lambda x: ops.scatter(jnp.argsort(x[:, 0])[:, None], x, x.shape),
    "scatter_update": lambda x: ops.scatter_update(x, [[0]], x[-1:]),
    "shuffle": lambda x: keras.random.shuffle(x, seed=3),
    "permutation": lambda x: jax.random.permutation(jax.random.key(1), x),
    "random choice of rows": lambda x: jax.random.choice(jax.random.key(1), x, (1,), axis=0),
    "mixing with a permutation": lambda x: 0.7 * x + 0.3 * x[jax.random.permutation(jax.random.key(2), x.shape[0])],
    "meshgrid": lambda x: ops.mean(ops.meshgrid(x[:, 0], x[:, 1])[0], 0)[:, None],
    "rot90": lambda x: ops.transpose(jnp.rot90(x)),
}

GROUPS["Fourier transforms"] = {
    "fft": lambda x: jnp.real(jnp.fft.fft(x, axis=0)),
    "rfft": lambda x: jnp.real(jnp.fft.rfft(x, axis=0))[:1],
    "fft and back": lambda x: jnp.fft.irfft(jnp.fft.rfft(x, axis=0) * 0.5, n=x.shape[0], axis=0),
    "fft2": lambda x: ops.fft2((x, ops.zeros_like(x)))[0],
    "fft of the transpose": lambda x: ops.transpose(ops.fft((ops.transpose(x), ops.zeros_like(ops.transpose(x))))[1]),
    "fftconvolve": lambda x: jax.scipy.signal.fftconvolve(x, x, mode="same", axes=0),
    "dct": lambda x: jax.scipy.fft.dct(x, axis=0),
}

GROUPS["linear algebra"] = {
    "matmul with the Gram matrix": lambda x: ops.matmul(_gram(x), x),
    "cholesky of the Gram matrix": lambda x: ops.matmul(ops.cholesky(_gram(x)), x),
    "solve": lambda x: ops.solve(_gram(x), x),
    "cho_solve": lambda x: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(_gram(x)), x),
    "solve_triangular": lambda x: ops.solve_triangular(ops.cholesky(_gram(x)), x, lower=True),
    "inv": lambda x: ops.matmul(ops.inv(_gram(x)), x),
    "det": lambda x: ops.log(ops.det(_gram(x))),
    "slogdet": lambda x: jnp.linalg.slogdet(_gram(x))[1],
    "eigh": lambda x: ops.eigh(_gram(x))[0][-1:],
    "eigvalsh": lambda x: jnp.linalg.eigvalsh(_gram(x))[:, None],
    "lu": lambda x: ops.matmul(ops.lu_factor(_gram(x))[0], x),
    "qr of the rows": lambda x: jnp.linalg.qr(jnp.concatenate([x, jnp.eye(4)]))[1][:1],
    "svd of the rows": lambda x: ops.svd(x + 1e-3, compute_uv=False)[:1],
    "pinv": lambda x: ops.transpose(jnp.linalg.pinv(jnp.concatenate([x, jnp.eye(4)])))[:1],
    "lstsq": lambda x: jnp.linalg.lstsq(jnp.concatenate([x, jnp.eye(4)]), jnp.ones((x.shape[0] + 4, 1)))[0][:1],
    "matrix_power": lambda x: ops.matmul(jnp.linalg.matrix_power(_gram(x) * 0.02, 3), x),
    "expm": lambda x: ops.matmul(jax.scipy.linalg.expm(_gram(x) * 0.01), x),
    "trace": lambda x: jnp.trace(_gram(x)),
    "diagonal": lambda x: ops.diagonal(_gram(x))[:, None],
    "tril": lambda x: ops.matmul(ops.tril(_gram(x)), x) / 50.0,  # else training diverges, and rounding grows
    "norm": lambda x: x / ops.norm(x),
    "kron": lambda x: jnp.max(jnp.kron(x, x), 0)[:1],
    "einsum over pairs": lambda x: ops.einsum("id,jd,je->ie", x, x, x),
    "outer": lambda x: ops.mean(ops.abs(ops.outer(x, x))) * x,
    "whitening": lambda x: ops.matmul(x, ops.inv(ops.cholesky(_covariance(x)))),
    "corrcoef": lambda x: ops.corrcoef(x + jnp.arange(4.0))[:, :1],
}

GROUPS["batch statistics and losses"] = {
    "max": lambda x: ops.max(x, 0, keepdims=True),
    "prod": lambda x: ops.prod(x, 0, keepdims=True),
    "logsumexp": lambda x: ops.logsumexp(x, 0, keepdims=True),
    "softmax": lambda x: ops.softmax(x, 0),
    "std": lambda x: ops.std(x, 0, keepdims=True),
    "any": lambda x: x * ops.cast(ops.any(x > 0.5, 0, keepdims=True), x.dtype),
    "branch on all rows": lambda x: ops.cond(ops.sum(x) > 0, lambda: x * 2.0, lambda: ops.flip(x, 0)),
    "pairwise distances": lambda x: ops.mean(_distances(x), 1, keepdims=True),
    "hardest pair": lambda x: ops.max(_distances(x), 1, keepdims=True),
    "nearest neighbours": lambda x: ops.mean(ops.take(x, ops.top_k(-_distances(x), 1)[1], axis=0), 1),
    "contrastive (softmax over pairs)": lambda x: ops.matmul(
        ops.softmax(ops.matmul(ops.normalize(x), ops.transpose(ops.normalize(x))) / 0.5), x
    ),
    "attention over rows": lambda x: ops.dot_product_attention(x[None, :, None], x[None, :, None], x[None, :, None])[
        0, :, 0
    ],
    "Sinkhorn": lambda x: (
        lax.fori_loop(
            0,
            3,
            lambda _, m: jax.nn.softmax(jax.nn.softmax(m, 0), 1),
            ops.matmul(x, ops.transpose(x)),
        )
        @ x
    ),
    "batch moments": lambda x: (
        (x - ops.moments(x, 0, keepdims=True)[0]) / (ops.sqrt(ops.moments(x, 0, keepdims=True)[1]) + 1.0)
    ),
    "group statistics": lambda x: ops.std(ops.reshape(x, (1, -1)), 1, keepdims=True),
}

OPERATIONS: Final[dict[str, Operation]] = {name: call for group in GROUPS.values() for name, call in group.items()}
