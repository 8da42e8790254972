"""What each operation does, through the reference executor."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from unisono._src.data.plans import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    ArraySlices,
    Batch,
    Cache,
    Concatenate,
    GeneratorSource,
    ListSource,
    Map,
    Operation,
    PaddedBatch,
    Plan,
    Prefetch,
    Repeat,
    Shuffle,
    index_plan,
    iterate,
)


def stream(numbers: Callable[[], Iterator[int]], *operations: Operation) -> Plan:
    """Numbers from a function, of unknown number: a source without random access."""
    return Plan(GeneratorSource(numbers), operations)


def numbers(size: int, *operations: Operation) -> Plan:
    return Plan(ArraySlices(np.arange(size)), operations)


def taken(plan: Plan, iteration: int = 0, limit: int = 1000) -> list[Any]:
    return [element.tolist() for element in islice(iterate(plan, iteration), limit)]


class TestMap:
    def test_a_tuple_is_spread_over_the_arguments(self) -> None:
        plan = Plan(ArraySlices(([1, 2], [3, 4])), (Map(lambda x, y: x * y),))
        assert taken(plan) == [3, 8]

    def test_a_dict_is_one_argument(self) -> None:
        plan = Plan(ArraySlices({"x": [1, 2]}), (Map(lambda element: element["x"] + 1),))
        assert taken(plan) == [2, 3]

    def test_a_namedtuple_is_one_argument(self) -> None:
        pair_class = namedtuple("Pair", ["x", "y"])
        plan = Plan(ArraySlices(pair_class([1, 2], [3, 4])), (Map(lambda pair: pair.x + pair.y),))
        assert taken(plan) == [4, 6]

    def test_results_are_numpy_in_the_nest_that_was_returned(self) -> None:
        (element,) = iterate(numbers(1, Map(lambda x: (jnp.zeros(2), {"a": [x, 1.5]}, None))))
        assert isinstance(element[0], np.ndarray)
        assert isinstance(element[1]["a"], list)
        assert element[1]["a"][1] == np.asarray(1.5)
        assert element[2] is None

    def test_it_is_called_only_for_the_elements_that_are_taken(self) -> None:
        seen: list[int] = []
        plan = numbers(100, Map(lambda x: seen.append(int(x)) or x), Shuffle(100, seed=1))
        assert taken(plan, limit=3) == seen
        assert len(seen) == 3

    def test_something_that_cannot_be_called_is_refused(self) -> None:
        with pytest.raises(TypeError, match=r"got 3 \(int\).*Write map\(scale\)"):
            Map(3)  # type: ignore[arg-type]

    def test_a_result_that_is_no_array_is_refused_by_name(self) -> None:
        def strange(x: Any) -> object:
            return {1, 2}

        with pytest.raises(TypeError, match=r"map\(strange\) returned \{1, 2\} \(set\)"):
            taken(numbers(1, Map(strange)))


class TestShuffle:
    def test_it_permutes_fully_whatever_the_buffer_size(self) -> None:
        assert taken(numbers(50, Shuffle(1, seed=3))) == taken(numbers(50, Shuffle(50, seed=3)))
        assert sorted(taken(numbers(50, Shuffle(1, seed=3)))) == list(range(50))

    def test_every_pass_has_its_own_order_and_keeps_it(self) -> None:
        plan = numbers(20, Shuffle(20, seed=3))
        assert taken(plan, 0) != taken(plan, 1)
        assert taken(plan, 1) == taken(plan, 1)

    def test_without_reshuffling_all_passes_have_one_order(self) -> None:
        plan = numbers(20, Shuffle(20, seed=3, reshuffle_each_iteration=False), Repeat(2))
        order = taken(plan, 0)
        assert order[:20] == order[20:]
        assert order == taken(plan, 5)
        assert order[:20] != list(range(20))

    def test_two_shuffles_with_one_seed_do_not_do_the_same(self) -> None:
        once = taken(numbers(20, Shuffle(20, seed=3)))
        twice = taken(numbers(20, Shuffle(20, seed=3), Shuffle(20, seed=3)))
        assert twice != [once[i] for i in once]

    def test_maps_and_prefetches_do_not_change_the_order(self) -> None:
        more = numbers(20, Prefetch(1), Map(lambda x: x), Shuffle(20, seed=3))
        assert taken(more) == taken(numbers(20, Shuffle(20, seed=3)))

    def test_without_a_seed_numpys_global_generator_decides(self) -> None:
        np.random.seed(11)
        first = Shuffle(10).seed
        np.random.seed(11)
        assert Shuffle(10).seed == first
        assert Shuffle(10).seed != first

    def test_a_stream_is_shuffled_within_a_buffer(self) -> None:
        plan = stream(lambda: iter(range(100)), Shuffle(5, seed=1))
        order = taken(plan)
        assert sorted(order) == list(range(100))
        assert order != list(range(100))
        assert all(number - position < 5 for position, number in enumerate(order))
        assert taken(plan) == order != taken(plan, 1)

    def test_a_buffer_larger_than_the_stream_gives_everything(self) -> None:
        order = taken(stream(lambda: iter(range(10)), Shuffle(50, seed=1)))
        assert sorted(order) == list(range(10)) != order

    def test_a_shuffle_after_an_endless_repeat_uses_its_buffer(self) -> None:
        order = taken(numbers(4, Repeat(), Shuffle(3, seed=1)), limit=12)
        assert set(order) == {0, 1, 2, 3}
        assert order != [0, 1, 2, 3] * 3

    @pytest.mark.parametrize("size", [0, -1])
    def test_a_buffer_without_room_is_refused(self, size: int) -> None:
        with pytest.raises(ValueError, match=rf"at least 1, but it is {size}.*shuffle\(len\(x\)\)"):
            Shuffle(size)


class TestBatch:
    def test_the_last_batch_may_be_smaller(self) -> None:
        assert taken(numbers(5, Batch(2))) == [[0, 1], [2, 3], [4]]

    def test_the_remainder_can_be_dropped(self) -> None:
        assert taken(numbers(5, Batch(2, drop_remainder=True))) == [[0, 1], [2, 3]]

    def test_batches_can_be_batched(self) -> None:
        assert taken(numbers(4, Batch(2), Batch(2))) == [[[0, 1], [2, 3]]]

    def test_none_stays_none(self) -> None:
        (batch,) = iterate(numbers(2, Map(lambda x: (x, None)), Batch(2)))
        assert batch[1] is None

    def test_rows_of_different_shapes_are_refused_with_both_shapes(self) -> None:
        plan = numbers(3, Map(lambda x: np.zeros(int(x))), Batch(2))
        with pytest.raises(ValueError, match=r"element has shape \(0,\) in one row and \(1,\) in another"):
            taken(plan)

    def test_rows_of_different_structure_are_refused(self) -> None:
        plan = numbers(2, Map(lambda x: {"a": x} if x else {"b": x}), Batch(2))
        with pytest.raises(ValueError, match="different structure"):
            list(iterate(plan))

    @pytest.mark.parametrize("size", [0, -3])
    def test_a_size_below_one_is_refused(self, size: int) -> None:
        with pytest.raises(ValueError, match=f"at least 1, but it is {size}"):
            Batch(size)

    def test_a_fractional_size_is_refused_with_the_remedy(self) -> None:
        with pytest.raises(TypeError, match=r"is 32.0 \(float\).*a // b"):
            Batch(64 / 2)  # type: ignore[arg-type]

    def test_numpys_integers_are_integers(self) -> None:
        assert Batch(np.int64(3)).batch_size == 3  # type: ignore[arg-type]


class TestRepeat:
    def test_rounds_follow_each_other(self) -> None:
        assert taken(numbers(2, Repeat(3))) == [0, 1] * 3

    @pytest.mark.parametrize("count", [None, -1])
    def test_it_can_repeat_without_end(self, count: int | None) -> None:
        plan = numbers(2, Repeat(count))
        assert plan.cardinality == INFINITE_CARDINALITY
        assert taken(plan, limit=7) == [0, 1, 0, 1, 0, 1, 0]

    def test_each_round_is_shuffled_anew_and_passes_continue_from_there(self) -> None:
        rounds = [taken(numbers(20, Shuffle(20, seed=1)), k) for k in range(4)]
        plan = numbers(20, Shuffle(20, seed=1), Repeat(2))
        assert taken(plan, 0) == rounds[0] + rounds[1]
        assert taken(plan, 1) == rounds[2] + rounds[3]

    def test_endless_passes_differ_from_each_other(self) -> None:
        plan = numbers(20, Shuffle(20, seed=1), Repeat())
        orders = {tuple(taken(plan, k, limit=100)[i : i + 20]) for k in range(3) for i in range(0, 100, 20)}
        assert len(orders) == 15

    def test_nothing_repeated_without_end_is_nothing(self) -> None:
        plan = numbers(2, Batch(5, drop_remainder=True), Repeat())
        assert plan.cardinality == 0
        assert taken(plan) == []

    def test_no_round_is_nothing(self) -> None:
        assert numbers(3, Repeat(0)).cardinality == 0
        assert taken(numbers(3, Repeat(0))) == []

    def test_other_counts_are_refused(self) -> None:
        with pytest.raises(ValueError, match=r"at least 0, but it is -2.*repeat\(\)"):
            Repeat(-2)


class TestCache:
    def test_maps_before_it_run_once_and_maps_after_it_every_time(self) -> None:
        before, after = count(), count()
        plan = numbers(3, Map(lambda x: x + 0 * next(before)), Cache(), Map(lambda x: x + 0 * next(after)))
        assert [taken(plan, k) for k in range(3)] == [[0, 1, 2]] * 3
        assert (next(before), next(after)) == (3, 9)

    def test_a_stream_is_read_once(self) -> None:
        reads = count()
        plan = stream(lambda: iter(range(3 + next(reads))), Cache())
        assert [taken(plan, k) for k in range(3)] == [[0, 1, 2]] * 3
        assert next(reads) == 1

    def test_it_keeps_the_order_of_the_first_pass_even_if_another_pass_came_first(self) -> None:
        shuffled = taken(numbers(10, Shuffle(10, seed=1)))
        plan = numbers(10, Shuffle(10, seed=1), Cache())
        assert taken(plan, 5, limit=3) == shuffled[:3]
        assert taken(plan, 1) == taken(plan, 2) == shuffled

    def test_a_shuffle_after_it_still_reshuffles(self) -> None:
        plan = numbers(10, Cache(), Shuffle(10, seed=1))
        assert taken(plan, 0) != taken(plan, 1)

    def test_a_later_map_cannot_write_into_it(self) -> None:
        plan = numbers(2, Map(lambda x: x + 1), Cache(), Map(lambda x: np.add(x, 1, out=x)))
        with pytest.raises(ValueError, match="read-only"):
            taken(plan)

    def test_plans_do_not_share_what_they_keep(self) -> None:
        first, second = numbers(3, Cache()), numbers(5, Cache())
        assert (taken(first), taken(second)) == ([0, 1, 2], [0, 1, 2, 3, 4])

    def test_an_endless_input_is_not_kept(self) -> None:
        cache = Cache()
        assert len(taken(numbers(3, Repeat(), cache), limit=50)) == 50
        assert not cache.memory.elements


class TestPrefetch:
    @pytest.mark.parametrize("size", [-1, 0, 4])
    def test_it_changes_nothing(self, size: int) -> None:
        assert taken(numbers(3, Prefetch(size))) == [0, 1, 2]

    def test_other_sizes_are_refused(self) -> None:
        with pytest.raises(ValueError, match=r"it is -2.*prefetch\(AUTOTUNE\)"):
            Prefetch(-2)


def test_a_plan_reads_like_the_code_that_made_it() -> None:
    def scale(x: Any) -> Any:
        return x

    plan = numbers(10, Map(scale), Map(lambda x: x), Map(partial(scale)), Cache(), Shuffle(5))
    plan = plan.then(Repeat()).then(Repeat(2)).then(Batch(4, drop_remainder=True)).then(Prefetch(-1))
    assert str(plan) == (
        "10 rows -> map(scale) -> map(lambda) -> map(partial) -> cache() -> shuffle(5) -> repeat() "
        "-> repeat(2) -> batch(4, drop_remainder=True) -> prefetch(AUTOTUNE)"
    )


def test_the_cardinality_follows_the_operations() -> None:
    assert numbers(10, Batch(4), Repeat(3)).cardinality == 9
    assert numbers(10, Repeat(3), Batch(4, drop_remainder=True)).cardinality == 7
    assert numbers(10, Repeat(), Batch(4), Repeat(2)).cardinality == INFINITE_CARDINALITY
    assert stream(lambda: iter([1]), Batch(4), Repeat(2)).cardinality == UNKNOWN_CARDINALITY


@pytest.mark.parametrize("operations", [[], [Shuffle(4, seed=1)], [Batch(2)], [Cache()]], ids=str)
def test_a_position_behind_the_end_of_the_input_is_an_error(operations: list[Operation]) -> None:
    elements = stream(lambda: iter(range(9)), *operations).open((0,))
    for _ in range(4):
        next(elements)
    shorter = stream(lambda: iter(range(3)), *operations).open((0,))
    with pytest.raises(ValueError, match="it ended before the position of that run"):
        shorter.set_state(elements.get_state())


def test_byte_strings_keep_their_zeros_when_another_leaf_changes_its_dtype() -> None:
    texts = ArraySlices(([b"a\0", b"\0"], [0, 1]))
    plan = Plan(texts, (Map(lambda text, x: (text, np.float32(0.5) if x else np.int32(1)), seed=1), Batch(2)))
    ((found, _),) = iterate(plan)
    assert found.tolist() == [b"a\0", b"\0"]


def test_byte_strings_of_concatenated_arrays_keep_their_zeros() -> None:
    texts = Plan(ArraySlices([b"a\0", b""]), (Concatenate(Plan(ArraySlices([b"\0"]))),))
    found = index_plan(texts)
    assert found is not None
    assert [found[0].arrays[np.int32(row)].tolist() for row in range(3)] == [b"a\0", b"", b"\0"]


@pytest.mark.parametrize(("dtype", "value"), [("float32", np.float64(0.1)), ("int8", 7), ("bool", True)])
def test_padding_is_rounded_to_the_dtype_of_floats(dtype: str, value: Any) -> None:
    rows = ListSource((np.zeros(1, dtype), np.zeros(2, dtype)))
    (batch,) = iterate(Plan(rows, (PaddedBatch(2, padding_values=value),)))
    assert batch[0, 1] == np.asarray(value).astype(dtype)


@pytest.mark.parametrize(("dtype", "value"), [("uint8", -1), ("int32", 0.5), ("int32", float("nan"))])
def test_padding_that_whole_numbers_cannot_hold_is_refused(dtype: str, value: Any) -> None:
    rows = ListSource((np.zeros(1, dtype), np.zeros(2, dtype)))
    with pytest.raises(TypeError, match="does not fit the dtype"):
        list(iterate(Plan(rows, (PaddedBatch(2, padding_values=value),))))
