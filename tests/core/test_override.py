"""A hook holds what was set last, or its default."""

from unisono._src.core import Override


def test_a_hook_has_its_default_until_it_is_set_and_after_it_is_reset() -> None:
    hook = Override(str.upper)
    assert hook.current("a") == "A"
    hook.set(str.title)
    assert hook.current("a b") == "A B"
    hook.reset()
    assert hook.current is str.upper


def test_what_was_set_last_takes_the_place_of_what_was_set_before() -> None:
    hook = Override(1)
    hook.set(2)
    hook.set(3)
    assert hook.current == 3
    hook.reset()
    assert hook.current == 1
