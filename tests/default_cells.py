"""How many cells of long tables `make test` tries; `make test-all` tries all of them.

The cells of such a table differ little, and each compiles programs of its own or starts processes. The seconds are
those of all cells on two cores, with nothing compiled before.
"""

from __future__ import annotations

import collections
from typing import Final

import pytest

_DEFAULT_CELLS: Final = {
    "faults/test_table.py::test_the_result_is_that_of_an_undisturbed_job": 1,  # 42 s
    "keras_hooks/test_exact_padding.py::test_padded_sequences_give_the_same_results": 2,  # 14 s
    "keras_hooks/test_lowerings.py::test_a_lowering_supports_what_the_operation_supports": 11,  # 28 s
    "keras_hooks/test_lowerings.py::test_pooling_by_comparison_is_max_pooling_bit_for_bit": 3,  # 17 s
    "loops/test_ctl_correctness.py::test_a_loop_has_the_losses_the_weights_and_the_accuracy_of_one_device": 3,  # 33 s
    "loops/test_metrics.py::test_replicas_have_the_result_of_one_device": 6,  # 17 s
    "strategy/test_sharded_loops.py::test_a_loop_trains_as_on_one_device": 2,  # 13 s
    "tf/test_random_in_training.py::test_two_replicas_draw_what_one_device_draws": 2,  # 9 s
    "tf/test_scripts.py::test_a_script_runs_unchanged": 2,  # 62 s
    "tf/test_selected_rows.py::test_reductions_of_selected_rows_are_compiled": 10,  # 16 s
    "tracing/functions/test_remat.py::test_keras_scopes_train_as_without": 2,  # 13 s
    "tracing/tape/test_higher_order.py::test_two_nested_tapes_give_the_second_derivative": 6,  # 10 s
    "tracing/tape/test_layers.py::test_gradients_of_a_model_are_those_of_jax_eagerly_and_compiled": 3,  # 27 s
    "tracing/tape/test_operations.py::test_gradients_through_it_are_those_of_jax": 12,  # 15 s
    "training/test_datasets.py::test_random_maps_draw_the_same_on_one_device_and_on_many": 2,  # 25 s
    "training/test_datasets.py::test_the_same_rows_train_alike_wherever_they_come_from": 4,  # 21 s
    "training/test_evaluate_and_predict.py::test_predict_gives_every_row_once_and_in_order": 7,  # 10 s
    "training/test_resume.py::test_it_resumes_after_an_interruption_between_steps": 1,  # 13 s
    "training/test_resume_at_every_step.py::test_it_resumes_at_every_step": 3,  # 18 s
    "workers/test_launched.py::test_the_launcher_names_the_worker_that_failed": 1,  # 28 s
}


def mark_rare_cells(items: list[pytest.Item]) -> None:
    """Marks those cells of the tables `full` that are not tried by default: all but some at equal distances."""
    cells = collections.defaultdict(list)
    for item in items:
        table = item.nodeid.removeprefix("tests/").partition("[")[0]
        if table in _DEFAULT_CELLS and item.get_closest_marker("full") is None:
            cells[table].append(item)
    for table, found in cells.items():
        number = min(_DEFAULT_CELLS[table], len(found))
        chosen = {round(index * (len(found) - 1) / max(number - 1, 1)) for index in range(number)}
        for index, item in enumerate(found):
            if index not in chosen:
                item.add_marker(pytest.mark.full)
