"""How often a job may start again."""

import pytest

from unisono_launch.launch._restart_policy import RestartBudget

HOUR = 3600.0

# Attempts as (preempted, seconds, progressed), and how many restarts are left after each; None: there is no next one.
HISTORIES = {
    "failures are counted": (2, [(False, 5, True), (False, 5, True), (False, 5, True)], [1, 0, None]),
    "no restarts": (0, [(False, 2 * HOUR, True)], [None]),
    "preempted without restarts": (0, [(True, 2 * HOUR, True)], [None]),
    "preempted with the last one used up": (1, [(False, 5, True), (True, 50, False), (False, 5, True)], [0, 0, None]),
    "an hour of progress gives all back": (
        2,
        [(False, 5, True), (False, 5, True), (False, HOUR, True), (False, 5, True), (False, 5, True)],
        [1, 0, 1, 0, None],
    ),
    "an hour without progress does not": (1, [(False, 5, True), (False, HOUR, False)], [0, None]),
    "progress for less than an hour does not": (1, [(False, 5, True), (False, HOUR - 1, True)], [0, None]),
    "an hour counts over preemptions": (
        1,
        [(False, 5, True), (True, HOUR / 2, True), (False, HOUR / 2, False), (False, 5, True)],
        [0, 0, 0, None],
    ),
    "what was before a failure does not count": (
        1,
        [(True, HOUR - 1, True), (False, 5, True), (False, 5, True)],
        [1, 0, None],
    ),
}


@pytest.mark.parametrize(("restarts", "attempts", "left"), HISTORIES.values(), ids=HISTORIES)
def test_what_is_left_of_the_budget(restarts, attempts, left):
    budget = RestartBudget(restarts)
    found = []
    for preempted, seconds, progressed in attempts:
        pause = budget.pause_before_next(preempted=preempted, seconds=seconds, progressed=progressed)
        found.append(None if pause is None else budget.left)
    assert found == left


def test_a_worker_that_asks_for_restarts_in_haste_waits_longer_each_time():
    budget = RestartBudget(1)
    hasty = [budget.pause_before_next(preempted=True, seconds=1.0, progressed=False) for _ in range(7)]
    assert hasty == [1, 2, 4, 8, 16, 30, 30]
    assert budget.pause_before_next(preempted=True, seconds=11.0, progressed=False) == 0
    assert budget.pause_before_next(preempted=True, seconds=1.0, progressed=False) == 1
