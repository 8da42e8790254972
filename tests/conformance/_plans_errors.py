"""Plans that are mistakes, and some that look like one and are not. Recorded is when they fail, not with what words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._plans_sources import Point
from ._space import Space

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


def _raises(*_: Any) -> Any:
    raise KeyError("colour")


def _asserted(space: Space, num: int) -> Any:
    return space.numbers(4).filter(lambda x: x >= 0).apply(space.data.experimental.assert_cardinality(num))


ERRORS = {
    "error_slices_of_a_scalar": lambda s: s.slices(np.float32(1)),
    "error_slices_of_unequal_lengths": lambda s: s.slices((MATRIX, MATRIX[:2])),
    "error_slices_of_ragged_lists": lambda s: s.slices([[1], [1, 2]]),
    "error_slices_of_nothing": lambda s: s.slices(()),
    "error_generator_without_a_signature": lambda s: s.Dataset.from_generator(lambda: iter([1])),
    "error_generator_not_callable": lambda s: s.Dataset.from_generator([1, 2], output_signature=s.spec()),
    "error_generator_of_the_wrong_shape": lambda s: s.generated([np.zeros(3, np.int32)], s.spec(2)),
    "error_generator_of_the_wrong_structure": lambda s: s.generated([(1, 2)], {"x": s.spec()}),
    "error_generator_of_floats_as_ints": lambda s: s.generated([1.5], s.spec()),
    "error_generator_of_float_arrays_as_ints": lambda s: s.generated([np.float32([1.5, 2.7])], s.spec(2)),
    "error_generator_raises_after_one": lambda s: s.Dataset.from_generator(
        lambda: (1 // (1 - i) for i in range(3)), output_signature=s.spec()
    ),
    "error_range_without_arguments": lambda s: s.range(),
    "error_range_of_step_zero": lambda s: s.range(0, 5, 0),
    "error_map_raises": lambda s: s.numbers(3).map(_raises),
    "error_map_takes_too_many_arguments": lambda s: s.numbers(3).map(lambda x, y: x),
    "error_map_takes_too_few_arguments": lambda s: s.pairs(3).map(lambda x: x),
    "error_map_spreads_a_namedtuple": lambda s: s.slices(Point(MATRIX, MATRIX)).map(lambda x, y: x),
    "error_map_unknown_key": lambda s: s.slices({"a": MATRIX}).map(lambda d: d["b"]),
    "error_filter_gives_a_number": lambda s: s.numbers(3).filter(lambda x: x),
    "error_filter_gives_a_vector": lambda s: s.slices(MATRIX).filter(lambda x: x > 1),
    "error_take_while_gives_a_number": lambda s: s.numbers(3).take_while(lambda x: x),
    "error_batch_zero": lambda s: s.numbers(3).batch(0),
    "error_batch_negative": lambda s: s.numbers(3).batch(-1),
    "error_batch_of_unequal_rows": lambda s: s.rows(2, 3).batch(2),
    "error_batch_of_unequal_rows_after_a_good_one": lambda s: s.rows(2, 2, 1, 3).batch(2),
    "error_batch_of_a_float": lambda s: s.numbers(3).batch(2.0),
    "error_padded_batch_too_short": lambda s: s.rows(2, 3).padded_batch(2, padded_shapes=[2]),
    "error_padded_batch_of_the_wrong_rank": lambda s: s.rows(2, 3).padded_batch(2, padded_shapes=[2, 2]),
    "error_padded_batch_smaller_than_the_spec": lambda s: s.slices(MATRIX).padded_batch(2, padded_shapes=[2]),
    "error_padded_batch_of_another_structure": lambda s: s.rows(2, 3).padded_batch(2, padded_shapes=([None], [None])),
    "error_padded_batch_value_of_another_kind": lambda s: s.rows(2, 3).padded_batch(2, padding_values=0.5),
    "error_padded_batch_python_value_for_int64": lambda s: (
        s.slices(np.arange(3)).batch(1).padded_batch(2, padding_values=-1)
    ),
    "error_unbatch_scalars": lambda s: s.numbers(3).unbatch(),
    "error_unbatch_unequal_parts": lambda s: s.Dataset.from_tensors((MATRIX, MATRIX[:2])).unbatch(),
    "error_rebatch_zero": lambda s: s.numbers(4).batch(2).rebatch(0),
    "error_rebatch_scalars": lambda s: s.numbers(4).rebatch(2),
    "error_rebatch_an_empty_list": lambda s: s.numbers(4).batch(2).rebatch([]),
    "error_rebatch_unequal_parts": lambda s: s.Dataset.from_tensors((MATRIX, MATRIX[:2])).rebatch(2),
    "error_shuffle_zero": lambda s: s.numbers(3).shuffle(0),
    "error_shuffle_negative": lambda s: s.numbers(3).shuffle(-5),
    "error_shard_index_too_large": lambda s: s.numbers(3).shard(2, 2),
    "error_shard_index_negative": lambda s: s.numbers(3).shard(2, -1),
    "error_shard_into_none": lambda s: s.numbers(3).shard(0, 0),
    "error_repeat_minus_two": lambda s: s.numbers(2).repeat(-2),
    "error_prefetch_minus_two": lambda s: s.numbers(2).prefetch(-2),
    "error_window_zero": lambda s: s.numbers(3).window(0),
    "error_window_shift_zero": lambda s: s.numbers(3).window(2, shift=0),
    "error_window_stride_zero": lambda s: s.numbers(3).window(2, stride=0),
    "error_window_map_is_not_an_array": lambda s: s.numbers(3).window(2).map(lambda w: w + 1),
    "error_zip_of_an_array": lambda s: s.Dataset.zip((s.numbers(3), MATRIX)),
    "error_zip_of_a_list": lambda s: s.Dataset.zip([s.numbers(3), s.numbers(3)]),
    "error_zip_of_nothing": lambda s: s.Dataset.zip(),
    "error_zip_of_an_empty_tuple": lambda s: s.Dataset.zip(()),
    "error_zip_of_both_forms": lambda s: s.Dataset.zip(s.numbers(3), datasets=(s.numbers(3),)),
    "error_concatenate_of_other_structure": lambda s: s.numbers(3).concatenate(s.pairs(3)),
    "error_concatenate_of_other_dtype": lambda s: s.numbers(3).concatenate(s.range(3)),
    "error_concatenate_of_other_rank": lambda s: s.numbers(3).concatenate(s.numbers(3).batch(2)),
    "error_flat_map_to_no_dataset": lambda s: s.numbers(3).flat_map(lambda x: x),
    "error_interleave_to_no_dataset": lambda s: s.numbers(3).interleave(lambda x: x, cycle_length=2),
    "error_interleave_cycle_zero": lambda s: s.numbers(3).interleave(
        lambda x: s.Dataset.from_tensors(x), cycle_length=0
    ),
    "error_interleave_block_zero": lambda s: s.numbers(3).interleave(
        lambda x: s.Dataset.from_tensors(x), cycle_length=1, block_length=0
    ),
    "error_scan_without_a_pair": lambda s: s.numbers(3).scan(np.int32(0), lambda state, x: state + x),
    "error_scan_changes_its_state": lambda s: s.numbers(3).scan(np.int32(0), lambda state, x: ((state, state), x)),
    "error_scan_changes_its_dtype": lambda s: s.numbers(3).scan(np.int32(0), lambda state, x: (np.float32(1), x)),
    "error_reduce_changes_its_structure": lambda s: s.numbers(3).reduce(np.int32(0), lambda state, x: (state, x)),
    "error_reduce_changes_its_dtype": lambda s: s.numbers(3).reduce(np.int32(0), lambda state, x: np.float32(1)),
    "error_reduce_grows": lambda s: s.slices(MATRIX).batch(2).reduce(np.float32(0), lambda state, x: x[0] + state),
    "error_choose_out_of_range": lambda s: s.Dataset.choose_from_datasets(
        [s.range(2), s.range(2)], s.slices(np.array([0, 2], np.int64))
    ),
    "error_choose_by_int32": lambda s: s.Dataset.choose_from_datasets([s.range(2), s.range(2)], s.numbers(2)),
    "error_choose_from_nothing": lambda s: s.Dataset.choose_from_datasets([], s.range(2)),
    "error_choose_of_other_structure": lambda s: s.Dataset.choose_from_datasets([s.range(2), s.pairs(2)], s.range(2)),
    "error_sample_from_nothing": lambda s: s.Dataset.sample_from_datasets([]),
    "error_sample_with_too_few_weights": lambda s: s.Dataset.sample_from_datasets([s.range(2), s.range(2)], [1.0]),
    "error_sample_with_no_weight_at_all": lambda s: s.Dataset.sample_from_datasets(
        [s.range(2), s.range(2)], [0.0, 0.0]
    ),
    "error_sample_with_a_negative_weight": lambda s: s.Dataset.sample_from_datasets(
        [s.range(2), s.range(2)], [1.0, -1.0]
    ),
    "error_sample_of_other_structure": lambda s: s.Dataset.sample_from_datasets([s.range(2), s.pairs(2)]),
    "error_bucket_with_too_few_sizes": lambda s: s.rows(1, 2).bucket_by_sequence_length(s.length, [3, 5], [2, 2]),
    "error_bucket_longer_than_the_last_boundary": lambda s: s.rows(1, 9, 1).bucket_by_sequence_length(
        s.length, [3], [2, 2], pad_to_bucket_boundary=True
    ),
    "error_single_element_of_none": lambda s: s.numbers(0).get_single_element(),
    "error_single_element_of_two": lambda s: s.numbers(2).get_single_element(),
    "error_cardinality_asserted_too_small": lambda s: _asserted(s, 3),
    "error_cardinality_asserted_too_large": lambda s: _asserted(s, 5),
    "error_cardinality_asserted_of_a_known_number": lambda s: s.numbers(4).apply(
        s.data.experimental.assert_cardinality(5)
    ),
    "error_cardinality_asserted_infinite": lambda s: _asserted(s, s.data.INFINITE_CARDINALITY),
    "error_apply_gives_no_dataset": lambda s: s.numbers(2).apply(lambda d: 3),
    "error_with_options_of_a_dict": lambda s: s.numbers(2).with_options({"deterministic": True}),
    "error_unknown_option": lambda s: setattr(s.data.Options(), "no_such_option", 1),
    "error_enumerate_then_one_argument": lambda s: s.numbers(2).enumerate().map(lambda x: x),
}
