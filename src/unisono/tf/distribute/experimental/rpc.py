"""`tf.distribute.experimental.rpc`, not supported: scripts make no remote procedure calls of their own."""

from __future__ import annotations

from typing import Final

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._unsupported import unsupported_class as _unsupported_class

_NO_RPC: Final = (
    "remote procedure calls are not supported; a function runs on a worker by "
    "tf.distribute.coordinator.ClusterCoordinator(strategy).schedule(fn)."
)

Client = _unsupported_class("tf.distribute.experimental.rpc.Client", _NO_RPC)
Server = _unsupported_class("tf.distribute.experimental.rpc.Server", _NO_RPC)

__getattr__ = _explain_missing_names("tf.distribute.experimental.rpc")
