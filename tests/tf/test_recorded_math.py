"""`tf.math`, compared with recorded results of TensorFlow."""

import unisono.tf as tf
from tests.tf.recording import random_numbers, recorded


@recorded
def test_arithmetic():
    x, y = tf.constant([7.0, -7.0, 0.0]), tf.constant([2.0, 2.0, 3.0])
    i, j = tf.constant([7, -7, 0]), tf.constant([2, 2, 3])
    return {
        "add": [tf.add(x, y), tf.math.add(i, 1), tf.add(x, 1)],
        "subtract": [tf.subtract(x, y), tf.math.subtract(i, j)],
        "multiply": [tf.multiply(x, y), tf.math.multiply(i, 2)],
        "scalar": [tf.scalar_mul(2.0, x), tf.math.scalar_mul(3, i)],
        "divide": [tf.divide(x, y), tf.math.divide(x, 2.0), tf.truediv(x, y), tf.math.truediv(x, y)],
        "floor": [tf.math.floordiv(i, j), tf.math.floordiv(x, y), tf.math.floormod(i, j), tf.math.mod(x, y)],
        "truncated": [tf.truncatediv(i, j), tf.truncatemod(i, j)],
        "no nan": [tf.math.divide_no_nan(x, [1.0, 0.0, 0.0]), tf.math.multiply_no_nan(x, [1.0, 0.0, 2.0])],
        "reciprocal": [tf.math.reciprocal(y), tf.math.reciprocal_no_nan(x)],
        "signs": [tf.negative(x), tf.math.negative(i), tf.abs(x), tf.math.abs(i), tf.sign(x), tf.math.sign(i)],
        "powers": [tf.pow(y, 3.0), tf.math.pow(i, 2), tf.square(x), tf.math.square(i), tf.sqrt(y), tf.math.sqrt(y)],
        "roots": [tf.math.rsqrt(y), tf.math.squared_difference(x, y)],
        "sums": [tf.add_n([x, y, x]), tf.math.add_n([i, j]), tf.math.accumulate_n([x, y])],
        "larger": [tf.maximum(x, y), tf.math.maximum(i, 0), tf.minimum(x, y), tf.math.minimum(i, 0)],
        "rounded": [
            tf.round([0.5, 1.5, -2.5, 2.4]),
            tf.math.round([0.5]),
            tf.math.rint([1.5, 2.5]),
            tf.floor([1.7, -1.2]),
            tf.math.floor([0.1]),
            tf.math.ceil([1.2, -1.7]),
        ],
        "next": tf.math.nextafter(tf.constant([1.0]), tf.constant([2.0])),
    }


@recorded(tolerance=2e-5)
def test_elementary_and_special_functions():
    x, u = tf.constant([0.5, 1.0, 2.0]), tf.constant([-0.5, 0.1, 0.9])
    return {
        "exp": [tf.exp(x), tf.math.exp(x), tf.math.expm1(x), tf.math.log(x), tf.math.log1p(x)],
        "angles": [tf.sin(x), tf.cos(x), tf.tan(x), tf.asin(u), tf.acos(u), tf.atan(x), tf.atan2(x, u)],
        "math": [tf.math.sin(x), tf.math.cos(x), tf.math.tan(x), tf.math.asin(u), tf.math.acos(u), tf.math.atan(x)],
        "atan2": tf.math.atan2(u, x),
        "hyperbolic": [tf.sinh(x), tf.cosh(x), tf.tanh(x), tf.asinh(x), tf.acosh(x + 1), tf.atanh(u)],
        "math hyperbolic": [tf.math.sinh(x), tf.math.cosh(x), tf.math.tanh(x), tf.math.asinh(x)],
        "more": [tf.math.acosh(x + 1), tf.math.atanh(u)],
        "sigmoid": [
            tf.sigmoid(u),
            tf.math.sigmoid(u),
            tf.math.log_sigmoid(u),
            tf.math.softplus(u),
            tf.math.softsign(u),
        ],
        "erf": [tf.math.erf(u), tf.math.erfc(u), tf.math.erfinv(u), tf.math.erfcinv(x[:2]), tf.math.ndtri([0.1, 0.7])],
        "gamma": [tf.math.lgamma(x), tf.math.digamma(x), tf.math.lbeta([1.0, 2.0]), tf.math.igamma(x, 1.0)],
        "igammac": [tf.math.igammac(x, 1.0), tf.math.betainc(x, 2.0, [0.1, 0.5, 0.9]), tf.math.zeta(x + 1, 2.0)],
        "polygamma": tf.math.polygamma(tf.constant([1.0]), tf.constant([2.0])),
        "bessel": [tf.math.bessel_i0(x), tf.math.bessel_i0e(x), tf.math.bessel_i1(x), tf.math.bessel_i1e(x)],
        "x": [tf.math.xlogy([0.0, 1.0], [0.0, 2.0]), tf.math.xlog1py([0.0, 1.0], [-1.0, 2.0])],
        "xdivy": tf.math.xdivy([0.0, 1.0], [0.0, 2.0]),
        "poly": tf.math.polyval([1.0, 2.0, 3.0], tf.constant(2.0)),
    }


@recorded
def test_complex_numbers():
    z = tf.complex([1.0, 0.0], [2.0, -1.0])
    return {
        "made": [z, tf.dtypes.complex(1.0, 2.0)],
        "parts": [tf.math.real(z), tf.math.imag(z), tf.math.conj(z), tf.math.angle(z), tf.abs(z)],
    }


@recorded
def test_comparisons():
    x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant([3.0, 2.0, 1.0])
    a, b = tf.constant([True, False]), tf.constant([True, True])
    odd = tf.constant([1.0, float("nan"), float("inf")])
    return {
        "equal": [tf.equal(x, y), tf.math.equal(x, 2.0), tf.not_equal(x, y), tf.math.not_equal(x, 2.0)],
        "less": [tf.less(x, y), tf.math.less(x, y), tf.less_equal(x, y), tf.math.less_equal(x, y)],
        "greater": [tf.greater(x, y), tf.math.greater(x, y), tf.greater_equal(x, y), tf.math.greater_equal(x, y)],
        "logic": [tf.logical_and(a, b), tf.logical_or(a, b), tf.logical_not(a), tf.math.logical_xor(a, b)],
        "math logic": [tf.math.logical_and(a, b), tf.math.logical_or(a, b), tf.math.logical_not(a)],
        "odd": [tf.math.is_nan(odd), tf.math.is_inf(odd), tf.math.is_finite(odd)],
        "rising": [tf.math.is_non_decreasing([1, 1, 2]), tf.math.is_strictly_increasing([1, 1, 2])],
        "text": tf.equal(tf.constant(["a", "b"]), "a"),
    }


@recorded(tolerance=2e-5)
def test_reductions():
    x, i = tf.constant(random_numbers(2, 3)), tf.constant([[1, 2, 4], [3, 5, 9]])
    flags = tf.constant([[True, False], [True, True]])
    return {
        "sum": [tf.reduce_sum(x), tf.reduce_sum(i, axis=1), tf.reduce_sum(x, axis=[0, 1], keepdims=True)],
        "math sum": tf.math.reduce_sum(i, 0),
        "mean": [tf.reduce_mean(x), tf.reduce_mean(x, axis=-1), tf.reduce_mean(i), tf.math.reduce_mean(i, axis=0)],
        "small": tf.reduce_sum(tf.constant([200, 100], tf.uint8)),
        "prod": [tf.reduce_prod(i), tf.math.reduce_prod(x, axis=0)],
        "max": [tf.reduce_max(x, axis=1), tf.math.reduce_max(i), tf.reduce_min(x), tf.math.reduce_min(i, axis=0)],
        "all": [tf.reduce_all(flags), tf.math.reduce_all(flags, axis=0)],
        "any": [tf.reduce_any(flags, axis=1), tf.math.reduce_any(flags)],
        "spread": [tf.math.reduce_variance(x, axis=0), tf.math.reduce_std(x)],
        "log": [tf.reduce_logsumexp(x, axis=1), tf.math.reduce_logsumexp(x)],
        "norm": tf.math.reduce_euclidean_norm(x, axis=1),
        "zeros": [tf.math.count_nonzero([0, 1, 2]), tf.math.zero_fraction([0.0, 1.0]), tf.nn.zero_fraction([0.0, 0.0])],
        "arg": [tf.math.argmax(x, axis=1), tf.math.argmin(x, axis=1)],
        "cumsum": [
            tf.cumsum(i, axis=1),
            tf.math.cumsum(i, axis=1, exclusive=True),
            tf.math.cumsum(i, axis=1, reverse=True),
            tf.math.cumsum(i, axis=1, exclusive=True, reverse=True),
        ],
        "cumprod": [tf.math.cumprod(i), tf.math.cumprod(i, axis=1, exclusive=True)],
        "cumlog": tf.math.cumulative_logsumexp(x, axis=1),
    }


@recorded
def test_segments():
    rows = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    return {
        "sum": tf.math.segment_sum(rows, [0, 0, 2]),
        "mean": tf.math.segment_mean(rows, [0, 0, 2]),
        "max": tf.math.segment_max(rows, [0, 0, 2]),
        "min": tf.math.segment_min(rows, [0, 0, 1]),
        "prod": tf.math.segment_prod(rows, [0, 0, 2]),
        "unsorted sum": tf.math.unsorted_segment_sum(rows, [2, 0, 2], 3),
        "unsorted mean": tf.math.unsorted_segment_mean(rows, [2, 0, 2], 3),
        "unsorted root": tf.math.unsorted_segment_sqrt_n(rows, [2, 0, 2], 3),
        "unsorted max": tf.math.unsorted_segment_max(rows, [2, 0, 2], 3),
        "unsorted min": tf.math.unsorted_segment_min(rows, [2, 0, 2], 3),
        "unsorted prod": tf.math.unsorted_segment_prod(rows, [2, 0, 2], 3),
        "negative": tf.math.unsorted_segment_sum([1, 2, 3], [0, -1, 1], 2),
    }


@recorded
def test_counts():
    return {
        "bincount": tf.math.bincount([1, 3, 3, 0]),
        "weights": tf.math.bincount([1, 3, 3], weights=[0.5, 1.0, 2.0]),
        "lengths": tf.math.bincount([1, 3, 3], minlength=6, maxlength=6),
        "rows": tf.math.bincount([[1, 1], [0, 2]], axis=-1),
        "confusion": tf.math.confusion_matrix([0, 1, 2, 2], [0, 2, 2, 1]),
        "confusion weights": tf.math.confusion_matrix([0, 1], [1, 1], num_classes=3, weights=[2, 3]),
        "inverse": tf.math.invert_permutation([2, 0, 1]),
        "top": tf.nn.top_k([[1.0, 3.0, 2.0]], 2).indices,
        "in top": tf.nn.in_top_k([1], [[0.1, 0.9]], 1),
        "bits": [
            tf.bitwise.bitwise_and([6], [3]),
            tf.bitwise.bitwise_or([6], [3]),
            tf.bitwise.bitwise_xor([6], [3]),
            tf.bitwise.invert([6]),
            tf.bitwise.left_shift([6], [1]),
            tf.bitwise.right_shift([6], [1]),
        ],
    }


@recorded(tolerance=1e-4)
def test_signals():
    x = tf.constant(random_numbers(2, 16))
    z = tf.complex(x, x)
    return {
        "fft": [tf.signal.fft(z), tf.signal.ifft(z), tf.signal.fft2d(z), tf.signal.ifft2d(z)],
        "rfft": [tf.signal.rfft(x), tf.signal.irfft(tf.signal.rfft(x)), tf.signal.rfft(x, [8])],
        "rfft2d": [tf.signal.rfft2d(x), tf.signal.irfft2d(tf.signal.rfft2d(x))],
        "fft3d": [tf.signal.fft3d(z[None]), tf.signal.ifft3d(z[None])],
        "shift": [tf.signal.fftshift(x, axes=[1]), tf.signal.ifftshift(x, axes=[1])],
        "windows": [tf.signal.hann_window(8), tf.signal.hann_window(7), tf.signal.hamming_window(6, periodic=False)],
        "frame": [tf.signal.frame(x, 6, 4), tf.signal.frame(x, 6, 4, pad_end=True)],
        "stft": tf.signal.stft(x, 6, 3),
    }
