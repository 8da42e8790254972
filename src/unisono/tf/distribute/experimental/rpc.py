"""`tf.distribute.experimental.rpc`, refused: no calls between processes."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.distribute import _parameter_servers as _servers

Client = _servers.RpcClient
Server = _servers.RpcServer

__getattr__ = _missing_in("tf.distribute.experimental.rpc")
