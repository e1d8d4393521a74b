"""Some of the broken situations of a stop; `make proof` tries all of them."""

from tests.proof.test_stop_situations import (
    kernel,
    lab,
    small_disk,
    test_a_driver_that_measures_a_standstill_confirms_the_stop,
    test_a_full_disk_keeps_no_stop_from_the_driver_and_the_next_start_is_stopped,
    test_a_kernel_without_a_free_descriptor_stores_the_stop_with_those_that_it_kept,
    test_a_log_of_stops_that_is_broken_keeps_no_stop_from_the_driver,
    test_a_second_stop_reaches_the_driver_whose_first_one_hangs,
    test_what_the_kernel_cannot_write_is_stored_by_who_sent_it,
    test_without_a_kernel_a_real_robot_may_still_move_and_a_simulated_one_is_not_there,
)

__all__ = [
    "kernel",
    "lab",
    "small_disk",
    "test_a_driver_that_measures_a_standstill_confirms_the_stop",
    "test_a_full_disk_keeps_no_stop_from_the_driver_and_the_next_start_is_stopped",
    "test_a_kernel_without_a_free_descriptor_stores_the_stop_with_those_that_it_kept",
    "test_a_log_of_stops_that_is_broken_keeps_no_stop_from_the_driver",
    "test_a_second_stop_reaches_the_driver_whose_first_one_hangs",
    "test_what_the_kernel_cannot_write_is_stored_by_who_sent_it",
    "test_without_a_kernel_a_real_robot_may_still_move_and_a_simulated_one_is_not_there",
]
