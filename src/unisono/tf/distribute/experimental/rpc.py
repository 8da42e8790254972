"""`tf.distribute.experimental.rpc`, not supported: there are no remote procedure calls."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.distribute import _parameter_servers as _servers

Client = _servers.RpcClient
Server = _servers.RpcServer

__getattr__ = _explain_missing_names("tf.distribute.experimental.rpc")
