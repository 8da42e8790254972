"""How many cells of long tables `make test` tries; `make test-all` tries all of them.

The cells of such a table differ little, and each compiles programs of its own or starts processes. A test that is not
worth its time as a whole is marked `full` where it is defined, or has 0 cells if its file also runs without pytest.
"""

from __future__ import annotations

import collections
from typing import Final

import pytest

_DEFAULT_CELLS: Final = {
    "data/dataset/test_dataset.py": {
        "test_elements_have_the_dtypes_of_the_spec_whoever_computes_them": 7,
    },
    "data/dataset/test_random.py": {
        "test_a_second_run_draws_the_same": 2,
        "test_all_executors_draw_the_same": 2,
        "test_every_element_and_every_epoch_has_its_own": 2,
    },
    "data/dataset/test_threads.py": {
        "test_an_exception_comes_where_its_element_would_have": 6,
    },
    "data/plans/test_contract.py": {
        "test_a_pass_can_be_restored_at_every_position": 130,
        "test_a_pass_can_be_restored_through_a_shuffle_buffer": 60,
        "test_a_pass_can_be_restored_within_the_rounds_of_a_repeat": 60,
    },
    "faults/test_table.py": {
        "test_the_result_is_that_of_an_undisturbed_job": 1,
    },
    "jax_hooks/test_combined_all_reduces.py": {
        "test_sums_that_do_not_wait_for_each_other_are_one": 2,
    },
    "jax_hooks/test_reused_logits.py": {
        "test_a_gradient_replaces_its_logits_of_the_same_value": 2,
    },
    "keras_hooks/test_callback_states.py": {
        "test_decisions_are_the_same_with_and_without_a_resume": 12,
    },
    "keras_hooks/test_core_hooks.py": {
        "test_a_sharded_variable_is_initialised_in_its_shards_with_the_draws_of_one_device": 1,
    },
    "keras_hooks/test_exact_padding.py": {
        "test_other_models_are_not_padded_and_the_reason_is_named": 5,
        "test_padded_sequences_give_the_same_results": 1,
    },
    "keras_hooks/test_lowerings.py": {
        "test_a_lowering_supports_what_the_operation_supports": 3,
        "test_pooling_by_comparison_is_max_pooling_bit_for_bit": 1,
    },
    "launch/test_changing_machines.py": {
        "test_launchers_that_do_not_fit_are_refused": 1,
        "test_without_the_secret_a_launcher_can_neither_join_nor_coordinate": 1,
    },
    "launch/test_changing_workers.py": {
        "test_only_a_worker_that_is_lost_twice_without_progress_is_left_out": 1,
    },
    "launch/test_failures.py": {
        "test_the_worker_that_failed_first_is_named_and_not_its_victims": 4,
    },
    "loops/test_ctl_correctness.py": {
        "test_a_loop_has_the_losses_the_weights_and_the_accuracy_of_one_device": 1,
    },
    "loops/test_losses.py": {
        "test_the_average_loss_divides_by_the_global_batch": 8,
    },
    "loops/test_metrics.py": {
        "test_known_results_when_every_replica_sees_the_same": 3,
        "test_replicas_have_the_result_of_one_device": 3,
    },
    "loops/test_models.py": {
        "test_a_loop_leaves_the_weights_and_losses_of_one_device": 1,
        "test_a_loop_that_divides_by_the_true_rows_equals_fit": 1,
        "test_numbers_drawn_by_replicas_are_all_different": 1,
        "test_weights_saved_after_a_loop_give_the_same_predictions_anywhere": 1,
    },
    "loops/test_optimizers.py": {
        "test_the_error_does_not_grow": 2,
        "test_the_summed_gradient_is_clipped": 4,
    },
    "loops/test_variables.py": {
        "test_a_file_holds_the_whole_and_any_number_of_replicas_restores_it": 7,
    },
    "state/checkpoint/test_names.py": {
        "test_names_do_not_depend_on_what_was_made_before": 2,
    },
    "state/store/test_kills.py": {
        "test_killed_at_the_worst_moments_it_leaves_complete_checkpoints": 10,
    },
    "state/store/test_remote.py": {
        "test_after_an_operation_that_fails_the_earlier_checkpoint_is_used": 2,
    },
    "state/store/test_staging.py": {
        "test_what_a_killed_writer_left_is_cleared_and_what_a_living_one_has_is_not": 3,
    },
    "strategy/test_grouped_steps.py": {
        "test_steps_are_those_that_are_sent_one_by_one": 3,
    },
    "strategy/test_sharded_loops.py": {
        "test_a_loop_trains_as_on_one_device": 1,
    },
    "strategy/test_sharded_strategies.py": {
        "test_fit_trains_sharded_weights_as_it_trains_mirrored_ones": 1,
    },
    "strategy/test_sharded_training.py": {
        "test_gradients_that_xla_partitions_wrongly_are_those_of_one_device": 1,
    },
    "strategy/test_strategy_of_environment.py": {
        "test_a_mirrored_strategy_is_sharded": 1,
    },
    "tf/keras/test_backend.py": {
        "test_a_function_gives_what_its_name_says": 25,
    },
    "tf/keras/test_backend_layer_operations.py": {
        "test_a_recurrence_is_that_of_the_layer": 1,
        "test_convolutions_and_pools_are_those_of_the_layers": 1,
    },
    "tf/keras/test_models.py": {
        "test_the_state_of_a_recurrent_layer_carries_over_between_steps": 1,
    },
    "tf/keras/test_stock_keras.py": {
        "test_layers_give_arrays_with_the_methods_of_tensors": 2,
    },
    "tf/keras/test_text_models.py": {
        "test_columns_of_text_and_of_numbers": 1,
        "test_fit_equals_fit_on_a_dataset_whose_map_reads_the_text": 1,
    },
    "tf/test_bounding_boxes.py": {
        "test_the_selected_boxes_are_those_of_the_loop": 1,
    },
    "tf/test_compat_v1_variables.py": {
        "test_initializers_have_the_defaults_of_tensorflow_1": 2,
    },
    "tf/test_map_dtypes.py": {
        "test_float32_stays_float32": 2,
    },
    "tf/test_random_in_models.py": {
        "test_a_layer_draws_new_numbers_in_every_step": 2,
    },
    "tf/test_random_in_training.py": {
        "test_a_model_can_be_used_in_any_way_before_training": 2,
        "test_numbers_drawn_only_in_training_differ_in_every_step": 2,
        "test_two_replicas_draw_what_one_device_draws": 1,
    },
    "tf/test_recorded_arrays.py": {
        "test_concatenation_and_splitting": 0,
    },
    "tf/test_recorded_image.py": {
        "test_colors": 0,
        "test_metrics_and_gradients": 0,
        "test_resizing": 0,
    },
    "tf/test_recorded_linalg.py": {
        "test_decompositions": 0,
    },
    "tf/test_recorded_math.py": {
        "test_counts": 0,
        "test_elementary_and_special_functions": 0,
        "test_signals": 0,
    },
    "tf/test_scripts.py": {
        "test_a_script_runs_unchanged": 1,
    },
    "tf/test_selected_rows.py": {
        "test_reductions_of_selected_rows_are_compiled": 3,
    },
    "tracing/control_flow/test_cases.py": {
        "test_it_gives_what_python_gives": 25,
    },
    "tracing/control_flow/test_gradients.py": {
        "test_a_tape_around_gives_pythons_gradient": 7,
    },
    "tracing/control_flow/test_packages.py": {
        "test_a_module_does_the_same_when_it_is_converted": 2,
    },
    "tracing/functions/test_remat.py": {
        "test_keras_scopes_train_as_without": 1,
    },
    "tracing/tape/test_cost.py": {
        "test_the_compiled_program_is_that_of_jax": 1,
    },
    "tracing/tape/test_forward_accumulator.py": {
        "test_the_derivative_is_that_of_jax": 3,
    },
    "tracing/tape/test_higher_order.py": {
        "test_a_gradient_penalty_trains_through_the_inner_tape": 1,
        "test_gradients_of_a_persistent_tape_inside_of_its_block_give_the_second_derivative": 3,
        "test_two_nested_tapes_give_the_second_derivative": 2,
    },
    "tracing/tape/test_jacobian.py": {
        "test_a_batch_jacobian_has_one_for_each_row": 2,
        "test_a_jacobian_is_that_of_jax": 2,
        "test_hessians_come_from_a_jacobian_around_a_gradient": 1,
    },
    "tracing/tape/test_layers.py": {
        "test_gradients_of_a_model_are_those_of_jax_eagerly_and_compiled": 1,
    },
    "tracing/tape/test_operations.py": {
        "test_gradients_through_it_are_those_of_jax": 5,
    },
    "tracing/tape/test_variables.py": {
        "test_with_mixed_precision_the_gradient_arrives_at_the_variable_in_float32": 1,
    },
    "training/callbacks/test_tensorboard.py": {
        "test_the_steps_that_were_asked_for_are_profiled": 2,
    },
    "training/callbacks/test_tensorboard_program.py": {
        "test_a_tensorboard_that_looked_on_shows_no_epoch_twice_if_only_epochs_are_written": 1,
        "test_a_tensorboard_that_looked_on_shows_no_step_twice": 1,
        "test_after_a_resume_every_step_is_shown_once": 1,
        "test_tensorboard_shows_curves_histograms_images_and_the_graph": 1,
    },
    "training/test_datasets.py": {
        "test_random_maps_draw_the_same_on_one_device_and_on_many": 1,
        "test_the_same_rows_train_alike_wherever_they_come_from": 2,
    },
    "training/test_evaluate_and_predict.py": {
        "test_predict_gives_every_row_once_and_in_order": 3,
    },
    "training/test_fit.py": {
        "test_a_bad_loss_is_reported_with_the_step_it_began_at": 1,
        "test_validation_runs_in_the_epochs_asked_for": 1,
    },
    "training/test_inputs.py": {
        "test_every_kind_of_input_trains_alike": 6,
    },
    "training/test_resume.py": {
        "test_it_resumes_after_an_interruption_between_steps": 1,
    },
    "training/test_resume_at_every_step.py": {
        "test_it_resumes_at_every_step": 1,
        "test_it_resumes_at_the_end_of_an_epoch": 1,
    },
    "training/test_resume_remote.py": {
        "test_a_training_resumes_from_a_url": 1,
    },
    "training/test_step_counts.py": {
        "test_any_number_of_steps_gives_what_keras_gives": 25,
    },
    "tuning/test_find_batch_size.py": {
        "test_training_afterwards_is_as_without_it": 1,
    },
    "tuning/test_find_learning_rate.py": {
        "test_training_continues_as_without_the_test": 1,
    },
    "workers/test_failures.py": {
        "test_the_peers_of_a_worker_that_fails_end_in_time": 1,
    },
    "workers/test_launched.py": {
        "test_the_launcher_names_the_worker_that_failed": 1,
    },
}


def mark_rare_cells(items: list[pytest.Item]) -> None:
    """Marks those cells of the tables `full` that are not tried by default: all but some at equal distances."""
    cells = collections.defaultdict(list)
    for item in items:
        file, _, test = item.nodeid.removeprefix("tests/").partition("[")[0].partition("::")
        if test in _DEFAULT_CELLS.get(file, {}) and item.get_closest_marker("full") is None:
            cells[file, test].append(item)
    for (file, test), found in cells.items():
        number = min(_DEFAULT_CELLS[file][test], len(found))
        chosen = {round(index * (len(found) - 1) / max(number - 1, 1)) for index in range(number)}
        for index, item in enumerate(found):
            if index not in chosen:
                item.add_marker(pytest.mark.full)
