"""Where we differ from tf.data on purpose: the plan, what differs, and why in a sentence.

The aspects are "stage" (when it fails, or whether), "structure", "shape", "dtype", "value", "count", "cardinality",
"len", "spec" (shapes in the element_spec) and "passes". A plan must differ in exactly the aspects it is listed with:
the test fails when a difference has vanished, so that this list stays the truth.
"""

from __future__ import annotations

Reason = tuple[tuple[str, ...], str]

STR: Reason = (("dtype", "value"), "text stays NumPy's str, where TensorFlow has only bytes")
PYTHON_NUMBERS: Reason = (("dtype",), "Python's numbers become what NumPy makes of them: int64 and float64")
JAX_PROMOTES: Reason = (("dtype",), "a map is compiled by JAX, and int32 / int32 has the dtype that JAX gives it")
AT_ITERATION: Reason = (("stage",), "functions are looked at when elements are needed")
FULL_SHUFFLE: Reason = (("value",), "where the length is known all elements are permuted, whatever the buffer size")

DIFFERENT: dict[str, Reason] = {
    "slices_of_str": STR,
    "slices_of_a_list_of_str": STR,
    "slices_of_str_and_numbers": STR,
    "tensors_of_a_str": STR,
    "batch_str": STR,
    "unique_str": STR,
    "map_str_passes_through": STR,
    "slices_of_a_list_of_ints": PYTHON_NUMBERS,
    "slices_of_a_list_of_floats": PYTHON_NUMBERS,
    "slices_of_nested_lists": PYTHON_NUMBERS,
    "map_to_a_python_int": PYTHON_NUMBERS,
    "map_int32_divided": JAX_PROMOTES,
    "map_to_a_list_gives_a_tuple": (("spec", "structure"), "a list stays a list, as in Keras"),
    "shuffle_with_a_buffer_of_one_keeps_the_order": FULL_SHUFFLE,
    "shuffle_with_a_small_buffer_draws_from_it": FULL_SHUFFLE,
    # We know a number that TensorFlow does not, or TensorFlow's is not true.
    "rebatch_an_endless_one": (("cardinality", "count"), "it is endless: -1; TensorFlow says that it does not know"),
    "take_minus_two_is_all": (("cardinality", "len"), "all of five is five"),
    "take_none_of_an_unknown_number": (("cardinality", "len"), "none of anything is none"),
    "skip_all_of_an_endless_one": (("cardinality", "len"), "nothing is left, and TensorFlow still says endless"),
    "interleave_nothing": (("cardinality", "len", "spec"), "nothing gives nothing; what would have come is not traced"),
    "deep_two_tasks_mixed": (("cardinality", "len"), "TensorFlow takes the chosen for endless: see the next"),
    "choose_from_endless_ones": (("cardinality",), "the choices end, and TensorFlow still says endless"),
    "sample_cardinality_with_one_endless_one_when_stopping": (
        ("value",),
        "it stops; TensorFlow says endless",
    ),
    # Functions of the user are looked at when elements are needed, not when the dataset is described: some of
    # them cannot be traced, and that is no mistake.
    "error_map_raises": AT_ITERATION,
    "error_map_takes_too_many_arguments": AT_ITERATION,
    "error_map_takes_too_few_arguments": AT_ITERATION,
    "error_map_spreads_a_namedtuple": AT_ITERATION,
    "error_map_unknown_key": AT_ITERATION,
    "error_filter_gives_a_number": AT_ITERATION,
    "error_filter_gives_a_vector": AT_ITERATION,
    "error_take_while_gives_a_number": AT_ITERATION,
    "error_window_map_is_not_an_array": AT_ITERATION,
    "error_flat_map_to_no_dataset": AT_ITERATION,
    "error_interleave_to_no_dataset": AT_ITERATION,
    "error_scan_without_a_pair": AT_ITERATION,
    "error_scan_changes_its_dtype": AT_ITERATION,
    "error_scan_changes_its_state": (("spec",), "both fail when it runs; asking for the spec runs it here"),
    "error_enumerate_then_one_argument": AT_ITERATION,
    "error_padded_batch_smaller_than_the_spec": AT_ITERATION,
    "error_padded_batch_value_of_another_kind": AT_ITERATION,
    # We accept more.
    "error_generator_without_a_signature": (("stage",), "the first element decides"),
    "error_padded_batch_python_value_for_int64": (("stage",), "-1 is a good int64"),
    "error_choose_by_int32": (("stage",), "any whole number names a dataset"),
    "error_concatenate_of_other_rank": (("spec",), "there is no spec of unknown rank: the first one's is given"),
    # We accept less.
    "rebatch_list_with_a_zero": (("stage",), "a batch of nothing is refused"),
    "error_rebatch_zero": (("stage",), "TensorFlow gives empty batches without end"),
    "error_repeat_minus_two": (("stage",), "only -1 means without end"),
    "error_generator_of_floats_as_ints": (("stage",), "TensorFlow cuts 1.5 to 1 without a word"),
    "error_generator_of_float_arrays_as_ints": (("stage",), "TensorFlow cuts 1.5 to 1 without a word"),
    "error_sample_with_no_weight_at_all": (("stage",), "TensorFlow gives nothing without a word"),
    "error_sample_with_a_negative_weight": (("stage",), "a negative weight has no meaning"),
    "sample_with_a_dataset_of_weights": (("stage",), "weights that change with time are not there"),
}

DIFFERENT_SPLITS: dict[str, Reason] = {
    "str_batch_3": (("dtype", "spec", "value"), STR[1]),
    "function_optional_of_fixed_shapes": (
        ("structure",),
        "a short last step is left out where shapes are fixed, as for next(): TensorFlow's get_next_as_optional alone "
        "gives it, with other shapes than its element_spec says",
    ),
}
