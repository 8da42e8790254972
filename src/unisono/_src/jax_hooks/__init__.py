"""Everything that touches JAX's internals. Each file names the versions it was checked against."""

from unisono._src.jax_hooks._arrays import Reference, give_manners, give_properties
from unisono._src.jax_hooks._merged_sums import with_merged_sums
from unisono._src.jax_hooks._traces import (
    Call,
    Recorder,
    Recording,
    beneath_tapes,
    current_trace,
    filled,
    gloo_listens_at,
    hole,
    inside,
    is_evaluating,
    no_cotangent,
    takes_symbolic_zeros,
    unconnected,
)
from unisono._src.jax_hooks._uncommitted import unbound
