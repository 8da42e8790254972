"""Everything that touches JAX's internals. Each file names the versions it was checked against."""

from unisono._src.jax_hooks._arrays import (
    Reference, install_array_properties, install_dtype_attributes, install_tensor_methods, uncommit,
)
from unisono._src.jax_hooks._evaluate import (
    NotEvaluableError, argument_variable, check_tracers, compute_same, evaluate_traced, separate_operations,
)
from unisono._src.jax_hooks._forward_mode import refuse_reverse_mode
from unisono._src.jax_hooks._gathered_weights import gather_weight, gather_where_used, sum_gradient
from unisono._src.jax_hooks._kernel_gradients import untranspose_matmuls
from unisono._src.jax_hooks._combined_row_sums import combine_row_sums
from unisono._src.jax_hooks._combined_all_reduces import combine_all_reduces
from unisono._src.jax_hooks._operators import OPERATORS, install_list_operands
from unisono._src.jax_hooks._primitives import check_primitives
from unisono._src.jax_hooks._refused_gradients import refuse_gradient
from unisono._src.jax_hooks._reused_logits import reuse_logits
from unisono._src.jax_hooks._partitioning import make_partitionable
from unisono._src.jax_hooks._matmul_flops import count_matmul_flops, has_convolutions
from unisono._src.jax_hooks._recomputation import calls_host, keep_recomputation
from unisono._src.jax_hooks._split_programs import (
    OwnersPart, SplitProgram, mark_gradients, merge_owners, marking_gradients, split_updates,
)
from unisono._src.jax_hooks._summed_arrays import keep_rows_major
from unisono._src.jax_hooks._gloo_address import bind_gloo_to
from unisono._src.jax_hooks._placeholders import make_placeholder, substitute
from unisono._src.jax_hooks._primitive_call import PrimitiveCall
from unisono._src.jax_hooks._pull_backs import (
    accepts_symbolic_zeros, check_pull_backs, find_unconnected, zero_cotangent,
)
from unisono._src.jax_hooks._recording_trace import Recorder, RecordingTrace, is_evaluating, trace_below_tapes
from unisono._src.jax_hooks._traces import check_traces, copy_unrecorded, current_trace, use_trace
