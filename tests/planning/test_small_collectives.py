"""A small model exchanges its gradients too; only beside large arrays small ones are left out."""

from unisono._src.planning._collectives import read_collectives

_SMALL = "  %all-reduce.1 = f32[161]{0} all-reduce(%a), channel_id=1\n"
_LARGE = "  %all-reduce.2 = f32[512,512]{1,0} all-reduce(%b), channel_id=2\n"


def test_the_only_exchange_of_a_small_model_counts() -> None:
    assert [each.num_bytes for each in read_collectives(_SMALL, 2)] == [644]


def test_beside_large_gradients_it_does_not() -> None:
    assert [each.num_bytes for each in read_collectives(_SMALL + _LARGE, 2)] == [512 * 512 * 4]
