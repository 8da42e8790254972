"""Hook: where gloo listens. Checked against jaxlib 0.10.2, 0.11.2 and 0.12.0.1."""

from __future__ import annotations

import functools
from typing import Any

from jaxlib import _jax

from unisono._src import hooks


def bind_gloo_to(address: str) -> None:
    """Between processes on CPUs, gloo listens at ``address``, one of this machine's.

    By default it uses the address of the machine's host name, which on many machines is 127.0.0.1.
    """
    name, why = "make_gloo_tcp_collectives", "gloo listens at an address that other machines reach"
    hooks.require(
        _jax, name, expects=["type nb_func", "type partial"], why=why, works=lambda: _accepts(_jax, name, "hostname")
    )
    hooks.wrap(
        _jax, name, lambda original: functools.partial(original, hostname=address), expects="type nb_func", why=why
    )


def _accepts(owner: Any, name: str, argument: str) -> bool:
    """Whether a function that is not Python's has an argument of this name: its documentation has the signature."""
    function = getattr(owner, name)
    return f"{argument}:" in str(getattr(function, "func", function).__doc__)
