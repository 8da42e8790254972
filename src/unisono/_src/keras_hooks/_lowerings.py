"""Hook: operations that XLA does badly on a platform, written in a way that it does well there.

In force only while a program of ours is traced for devices of that platform; stock Keras models never see them.

A lowering is made of plain operations, so that every transformation of JAX applies to it as to the original: forward
and reverse mode, of any order, `vmap` and `checkpoint`. A `custom_vjp` would refuse forward mode.
"""

from __future__ import annotations

from typing import Final

from keras.src import backend
from keras.src.ops import nn

from unisono._src import hooks
from unisono._src.keras_hooks._cpu_lowerings import CPU_LOWERINGS
from unisono._src.keras_hooks._gpu_lowerings import GPU_LOWERINGS

LOWERINGS: Final = {"cpu": CPU_LOWERINGS, "gpu": GPU_LOWERINGS}
"""The functions of `backend.nn` that are replaced, by platform."""


def install_lowerings() -> None:
    """Installs the hooks."""
    for platform, lowerings in LOWERINGS.items():
        for name, (lowering, signature) in lowerings.items():
            why = f"{name} of a compiled step is fast on {platform.upper()} devices"
            hooks.require(nn, name, expects=f"calls backend.nn.{name}", why=why)
            hooks.wrap(backend.nn, name, lowering, expects=signature, why=why)
