"""Hook: layers that are computed again for the gradient keep their state, and can have a policy of what is saved.

Keras's `RematScope` and `remat` call `jax.checkpoint`, which traces the layer by itself. On JAX, what the layer assigns
there (moving averages, the seeds of dropout) or adds as a loss would be lost with that trace, and `training` would be
traced too: every layer that has one of them fails.

Checked against Keras 3.15.1: all rematerialization calls `backend.core.remat`; an operation takes `_remat_mode` from
the innermost `RematScope` when it is made, and `rematerialized_call` decides by it at each call.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Literal, Protocol

import keras
from keras.src import backend
from keras.src.backend.common import global_state
from keras.src.backend.common import remat as keras_remat
from keras.src.backend.common.stateless_scope import get_stateless_scope
from keras.src.backend.common.symbolic_scope import in_symbolic_scope as in_symbolic_scope
from keras.src.ops.operation import Operation

from unisono._src import hooks
from unisono._src.keras_hooks._layer_calls import CallHandler, handle_layer_calls


class Rematerialize(Protocol):
    """Makes a function whose intermediate values are computed again for its gradient."""

    def __call__(self, function: Callable[..., Any], policy: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """``policy`` says which values are saved, as in `jax.checkpoint`."""


Origin = Literal["made", "called", "given"]
"""How a layer became a block: made in the `with` block of `unisono.remat`, called in it, or given to it."""


class BlockMode(str):
    """The mode of a layer that is a block of `unisono.remat`; Keras takes it for "full".

    Attributes:
        policy_name: the policy in words.
        policy: which values are saved, as in `jax.checkpoint`.
        origin: how the layer became a block.
    """

    policy_name: str
    policy: Callable[..., Any] | None
    origin: Origin

    @classmethod
    def make(cls, policy_name: str, policy: Callable[..., Any] | None, origin: Origin) -> BlockMode:
        """A mode with these attributes."""
        mode = cls("full")
        mode.policy_name, mode.policy, mode.origin = policy_name, policy, origin
        return mode


Observe = Callable[[Any, Callable[..., Any], Callable[..., Any]], Callable[..., Any]]
"""Gets a layer in a scope, its call without rematerialization and its call with it; returns what is called."""


class _Running(threading.local):
    """What is being computed.

    Attributes:
        blocks: how many blocks, one inside the other.
        is_off: whether nothing is rematerialized.
        observe: called before each layer that has a mode.
    """

    blocks: int = 0
    is_off: bool = False
    observe: Observe | None = None


_running = _Running()


def install_remat(rematerialize: Rematerialize) -> None:
    """Installs the hook: ``rematerialize`` is called in the place of `jax.checkpoint`."""
    why = "layers that are computed again keep what they assign, and `training`"
    hooks.wrap(
        backend.core,
        "remat",
        lambda original: lambda f: f if _running.is_off else rematerialize(f),
        expects="(f)",
        why=why,
    )
    why = "a layer in unisono.remat has a policy, and its inner layers are a part of it"
    hooks.require(Operation, "_remat_mode", expects="instance attribute", why=why)
    hooks.require(keras_remat, "get_current_remat_mode", expects="source aa4d4af81dd8", why=why)
    hooks.wrap(
        Operation,
        "rematerialized_call",
        lambda original: _rematerialize_block(original, rematerialize),
        expects="(self, fn, *args, **kwargs)",
        why=why,
    )
    why = "strategy.explain counts what layers keep with and without rematerialization"
    hooks.wrap(
        keras.Layer,
        "rematerialized_call",
        _observe_layer,
        expects="(self, layer_call, *args, **kwargs)",
        why=why,
    )
    why = "losses that are added in a layer that is computed again leave its trace"
    hooks.wrap(keras.Layer, "add_loss", _note_owner_of_loss, expects="(self, loss)", why=why)
    handle_layer_calls(CallHandler(name="remat", adapt=_join_block))


def _rematerialize_block(original: Any, rematerialize: Rematerialize) -> Any:
    def rematerialized_call(self: Any, fn: Any, *args: Any, **kwargs: Any) -> Any:
        if in_symbolic_scope() or _running.is_off:
            return fn  # only shapes are computed, or all is kept to be counted
        mode = get_block_mode(self)
        if mode is not None:
            return rematerialize(_count_block(fn), mode.policy) if _is_block(self, mode, _running.blocks > 0) else fn
        # For "larger_than" Keras computes the shape of the output, which many layers do for symbolic inputs only.
        args, kwargs = keras.tree.map_structure(_as_symbolic, (args, kwargs))
        return original(self, fn, *args, **kwargs)

    return rematerialized_call


def _observe_layer(original: Any) -> Any:
    def rematerialized_call(self: Any, layer_call: Any, *args: Any, **kwargs: Any) -> Any:
        if _running.is_off:
            return layer_call
        call, observe = original(self, layer_call, *args, **kwargs), _running.observe
        return call if observe is None or in_symbolic_scope() else observe(self, layer_call, call)

    return rematerialized_call


@contextlib.contextmanager
def observe_rematerialized_layers(observe: Observe | None) -> Iterator[None]:
    """In the block, ``observe`` is called before each layer that has a mode of rematerialization; None: nothing is."""
    before, _running.observe = _running.observe, observe
    try:
        yield
    finally:
        _running.observe = before


@contextlib.contextmanager
def without_rematerialization() -> Iterator[None]:
    """In the block, layers keep all that their gradient needs."""
    before, _running.is_off = _running.is_off, True
    try:
        yield
    finally:
        _running.is_off = before


def _as_symbolic(value: Any) -> Any:
    return keras.KerasTensor(value.shape, value.dtype) if backend.is_tensor(value) else value


def _count_block(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with _inside_block():
            return function(*args, **kwargs)

    return call


@contextlib.contextmanager
def _inside_block() -> Iterator[None]:
    _running.blocks += 1
    try:
        yield
    finally:
        _running.blocks -= 1


def get_block_mode(operation: Any) -> BlockMode | None:
    """The mode that `unisono.remat` gave to a layer; None if it did not."""
    mode = operation._remat_mode.mode if operation._remat_mode else None
    return mode if isinstance(mode, BlockMode) else None


def set_block_mode(layer: Any, mode: BlockMode) -> None:
    """The layer is a block from now on."""
    remat_mode = keras_remat.RematMode(mode, output_size_threshold=0, layer_names=[])
    object.__setattr__(layer, "_remat_mode", remat_mode)  # Keras would track the list as a part of the layer


def _join_block(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A layer that was made before becomes a block where it is called in the `with` block."""
    scopes = global_state.get_global_attribute("remat_scope_stack")
    if scopes and layer._remat_mode is None and isinstance(scopes[-1].mode, BlockMode):
        mode = scopes[-1].mode
        set_block_mode(layer, BlockMode.make(mode.policy_name, mode.policy, "called"))
    return args, kwargs


def _is_block(operation: Any, mode: BlockMode, is_inside_block: bool) -> bool:
    """Whether this layer is computed again as one block.

    Layers of a block are not blocks again. Nor is a model that was made in the `with` block: computed again as a whole,
    it would take the memory that its layers save.
    """
    if mode.origin == "given":
        return True
    is_whole_model = mode.origin == "made" and isinstance(operation, keras.Model | keras.layers.InputLayer)
    return isinstance(operation, keras.Layer) and not is_inside_block and not is_whole_model


def rematerialized_layers(model: Any) -> list[tuple[Any, str]]:
    """The layers of a model that are computed again for the gradient: each of them, and the policy in words.

    A layer in a `keras.RematScope` has Keras's mode in the place of a policy. Layers of a block are not listed.
    """
    found: list[tuple[Any, str]] = []
    _list_layers(model, False, found, set())
    return found


def _list_layers(layer: Any, is_inside_block: bool, found: list[tuple[Any, str]], seen: set[int]) -> None:
    if id(layer) in seen:
        return
    seen.add(id(layer))
    mode = get_block_mode(layer)
    if mode is not None and _is_block(layer, mode, is_inside_block):
        found.append((layer, mode.policy_name))
        is_inside_block = True
    elif mode is None and layer._remat_mode and _applies(layer, layer._remat_mode):
        found.append((layer, f"keras: {layer._remat_mode.mode}"))
    for child in layer._layers:
        _list_layers(child, is_inside_block, found, seen)


def _applies(layer: Any, mode: Any) -> bool:
    if mode.mode is None or isinstance(layer, keras.layers.InputLayer):
        return False
    if mode.mode == "list_of_layers":
        return layer.name in mode.layer_names
    if mode.mode == "activations":
        return getattr(layer, "activation", None) is not None
    return True  # "larger_than" depends on the batch


def _note_owner_of_loss(original: Any) -> Any:
    def add_loss(self: Any, loss: Any) -> None:
        original(self, loss)
        note = getattr(get_stateless_scope(), "loss_added", None)
        if note is not None:
            note(self, loss)

    return add_loss


def get_mask(value: Any) -> Any:
    """The mask that Keras keeps with an array, if there is one."""
    return backend.get_keras_mask(value)


def set_mask(value: Any, mask: Any) -> None:
    """Keeps ``mask`` with an array."""
    backend.set_keras_mask(value, mask)
