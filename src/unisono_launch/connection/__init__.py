"""JSON messages over TCP, for launchers among each other and for the workers' rendezvous before JAX starts."""

from unisono_launch.connection._connection import Connection, Message, PeerLostError
from unisono_launch.connection._listener import Listener, Lost, Opened, Received
from unisono_launch.connection._secret import SECRET_VARIABLE, is_proof, make_proof, new_nonce
