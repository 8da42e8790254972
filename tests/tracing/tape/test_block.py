"""The `with` block of a tape: entering, leaving, pausing, and what is recorded where."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from unisono import GradientTape
from unisono._src import jax_hooks
from unisono._src.tracing.tape import is_any_tape_recording


@pytest.fixture(autouse=True)
def every_tape_is_closed_in_the_end() -> Iterator[None]:
    before = jax_hooks.current_trace()
    yield
    assert jax_hooks.current_trace() is before
    assert not is_any_tape_recording()


X = jnp.array(3.0)


def test_what_follows_the_block_is_not_recorded() -> None:
    with GradientTape() as tape:
        tape.watch(X)
        y = X * X
    assert tape.gradient(y * 2, X) is None


def test_a_tape_can_be_entered_again_and_continues() -> None:
    with GradientTape() as tape:
        tape.watch(X)
        y = X * X
    with tape:
        y = y * X
    assert tape.gradient(y, X) == 27


def test_a_tape_that_was_used_can_be_entered_again_and_starts_over() -> None:
    with GradientTape() as tape:
        tape.watch(X)
        y = X * X
    assert tape.gradient(y, X) == 6
    with tape:
        tape.watch(X)
        z = X**3
    assert tape.gradient(z, X) == 27


# The kinds of the errors in this file are TensorFlow 2.21's, but for watch(): there it is an AttributeError about None.
def test_a_tape_cannot_be_entered_inside_of_its_own_block() -> None:
    with GradientTape() as tape, pytest.raises(ValueError, match="cannot be entered again"):
        tape.__enter__()


def test_a_second_use_is_an_error_that_names_persistent() -> None:
    with GradientTape() as tape:
        tape.watch(X)
        y = X * X
    tape.gradient(y, X)
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.gradient(y, X)
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.jacobian(y, X)


def test_a_tape_that_was_never_entered_has_nothing_to_tell() -> None:
    with pytest.raises(RuntimeError, match="never entered"):
        GradientTape(persistent=True).gradient(X, X)
    assert GradientTape().watched_variables() == ()


def test_watching_before_the_block_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"Call watch\(\) inside"):
        GradientTape().watch(X)


def test_a_persistent_tape_computes_gradients_again_and_again() -> None:
    with GradientTape(persistent=True) as tape:
        tape.watch(X)
        y = X * X
        z = y * y
    assert [tape.gradient(z, X), tape.gradient(y, X), tape.gradient(z, y)] == [108, 6, 18]


def test_asking_inside_of_the_block_ends_the_recording() -> None:
    with GradientTape() as tape:
        tape.watch(X)
        assert tape.gradient(X * X, X) == 6
        assert not is_any_tape_recording()
        with pytest.raises(RuntimeError, match="not recording"):
            tape.watch(X)
        with pytest.raises(RuntimeError, match="not recording"), tape.stop_recording():
            pass


def test_a_persistent_tape_records_its_own_gradients() -> None:
    with GradientTape(persistent=True) as tape:
        tape.watch(X)
        first = tape.gradient(X**3, X)
    assert first == 27
    np.testing.assert_allclose(tape.gradient(first, X), 18, rtol=1e-6)


def test_what_runs_while_recording_is_stopped_is_not_seen() -> None:
    with GradientTape() as tape:
        tape.watch(X)
        y = X * X
        with tape.stop_recording():
            z = y * 10
        u = y * 1 + z
    assert tape.gradient(u, X) == 6


def test_recording_continues_after_an_exception_in_a_stopped_block() -> None:
    with GradientTape() as tape:
        tape.watch(X)
        with pytest.raises(KeyError), tape.stop_recording():
            raise KeyError
        y = X * X
    assert tape.gradient(y, X) == 6


def test_the_outer_tape_can_be_stopped_inside_of_the_inner_one() -> None:
    with GradientTape() as outer, GradientTape() as inner:
        outer.watch(X)
        inner.watch(X)
        with outer.stop_recording():
            y = X * X
        z = y * X
    assert inner.gradient(z, X) == 27
    assert outer.gradient(z, X) == 9  # for it, y came from nowhere


def test_stopping_a_tape_that_does_not_record_is_an_error() -> None:
    tape = GradientTape()
    with pytest.raises(RuntimeError, match=r"Call stop_recording\(\) inside"), tape.stop_recording():
        pass
    with tape:
        pass
    with pytest.raises(ValueError, match=r"Call stop_recording\(\) inside"), tape.stop_recording():
        pass


def test_after_a_reset_the_tape_knows_only_what_comes_after() -> None:
    with GradientTape() as tape:
        tape.watch(X)
        y = X * X
        tape.reset()
        tape.watch(X)
        z = y + X
    assert tape.gradient(z, X) == 1


def test_resetting_a_tape_that_does_not_record_is_an_error() -> None:
    tape = GradientTape()
    with pytest.raises(ValueError, match=r"Call reset\(\) inside"):
        tape.reset()
    with tape:
        pass
    with pytest.raises(ValueError, match=r"Call reset\(\) inside"):
        tape.reset()


def test_an_exception_passes_through_and_leaves_no_tape_behind() -> None:
    with pytest.raises(ZeroDivisionError), GradientTape(), GradientTape():
        raise ZeroDivisionError


def test_tapes_can_be_left_in_any_order() -> None:
    first, second = GradientTape(), GradientTape()
    first.__enter__()
    second.__enter__()
    first.watch(X)
    second.watch(X)
    y = X * X
    first.__exit__(None, None, None)
    z = y * X
    second.__exit__(None, None, None)
    assert first.gradient(z, X) is None
    assert second.gradient(z, X) == 27


def test_values_are_arrays_as_ever_so_python_can_branch_on_them() -> None:
    with GradientTape() as tape:
        tape.watch(X)
        y = X * X
        assert type(y) is type(X)
        if y > 8:
            y = y * 5
    assert float(y) == 45
    assert tape.gradient(y, X) == 30


def test_no_tracer_is_left_behind(mode: Callable[..., object]) -> None:
    def step(x: jax.Array) -> jax.Array:
        with GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = jnp.sin(x) * x
        return tape.gradient(y, x) + tape.gradient(y, x)

    with jax.checking_leaks():
        np.testing.assert_allclose(mode(step)(X), 2 * (np.sin(3) + 3 * np.cos(3)), rtol=1e-5)


def test_it_is_known_whether_a_tape_records() -> None:
    assert not is_any_tape_recording()
    with GradientTape() as tape:
        assert is_any_tape_recording()
        with tape.stop_recording():
            assert not is_any_tape_recording()
            with GradientTape():
                assert is_any_tape_recording()
    assert not is_any_tape_recording()


def test_a_tape_belongs_to_its_thread() -> None:
    seen: list[object] = []

    def elsewhere() -> None:
        seen.append(is_any_tape_recording())
        with GradientTape() as tape:
            tape.watch(X)
            y = X * X
        seen.append(tape.gradient(y, X))

    with GradientTape() as tape:
        tape.watch(X)
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        y = X * 2
    assert seen == [False, 6]
    assert tape.gradient(y, X) == 2


def test_many_threads_can_record_at_once() -> None:
    results: dict[int, float] = {}

    def work(number: int) -> None:
        x = jnp.array(float(number))
        for _ in range(20):
            with GradientTape() as tape:
                tape.watch(x)
                y = jnp.sin(x) * x * x
            results[number] = float(tape.gradient(y, x))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = {n: np.cos(n) * n * n + 2 * n * np.sin(n) for n in range(4)}
    assert results == pytest.approx(expected, rel=1e-5)
