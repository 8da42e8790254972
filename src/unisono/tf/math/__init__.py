"""`tf.math`: arithmetic, comparisons, reductions, special functions, segments."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.linalg._norms import l2_normalize
from unisono.tf.math._arithmetic import (
    abs, accumulate_n, add, add_n, ceil, divide, divide_no_nan, floor, floordiv, floormod, maximum, minimum, multiply,
    multiply_no_nan, negative, nextafter, pow, reciprocal, reciprocal_no_nan, rint, round, rsqrt, scalar_mul, sign,
    sqrt, square, squared_difference, subtract, truediv,
)
from unisono.tf.math._comparisons import (
    equal, greater, greater_equal, is_finite, is_inf, is_nan, is_non_decreasing, is_strictly_increasing, less,
    less_equal, logical_and, logical_not, logical_or, logical_xor, not_equal,
)
from unisono.tf.math._counts_and_top_k import (
    approx_max_k, approx_min_k, bincount, confusion_matrix, in_top_k, invert_permutation, top_k,
)
from unisono.tf.math._elementary_and_special import (
    acos, acosh, angle, asin, asinh, atan, atan2, atanh, bessel_i0, bessel_i0e, bessel_i1, bessel_i1e, betainc, conj,
    cos, cosh, digamma, erf, erfc, erfcinv, erfinv, exp, expm1, igamma, igammac, imag, lbeta, lgamma, log, log1p,
    log_sigmoid, ndtri, polygamma, polyval, real, sigmoid, sin, sinh, softplus, softsign, tan, tanh, xdivy, xlog1py,
    xlogy, zeta,
)
from unisono.tf.math._reductions import (
    argmax, argmin, count_nonzero, cumprod, cumsum, cumulative_logsumexp, reduce_all, reduce_any, reduce_euclidean_norm,
    reduce_logsumexp, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_std, reduce_sum, reduce_variance,
    zero_fraction,
)
from unisono.tf.math._segments import (
    segment_max, segment_mean, segment_min, segment_prod, segment_sum, unsorted_segment_max, unsorted_segment_mean,
    unsorted_segment_min, unsorted_segment_prod, unsorted_segment_sqrt_n, unsorted_segment_sum,
)
from unisono.tf.nn._activations import log_softmax, softmax

mod = floormod

__getattr__ = _explain_missing_names("tf.math")
