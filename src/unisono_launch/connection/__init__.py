"""Messages over TCP: between launchers, at the rendezvous of workers, and between the tasks of parameter servers."""

from unisono_launch.connection._connection import Connection, Message, PeerLostError
from unisono_launch.connection._frames import FrameConnection
from unisono_launch.connection._listener import Listener, Lost, Opened, Received
from unisono_launch.connection._secret import SECRET_VARIABLE, is_proof, make_proof, new_nonce
