"""Shards within each machine and replicates between them: python sharded_by_machine.py HOST FOLDER.

The process first gets a host name of its own (a UTS namespace, as containers have), which is all that a machine is
known by. Needs the rights to do so: without them it prints "no rights" and ends.
"""

import ctypes
import os
import socket
import sys

CLONE_NEWUTS = 0x04000000

if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUTS) != 0:
    print("no rights:", os.strerror(ctypes.get_errno()), flush=True)
    sys.exit(0)
socket.sethostname(sys.argv[1])

import jax  # noqa: E402
import numpy as np  # noqa: E402
import sharded  # noqa: E402  (its folder is this one's)

import unisono  # noqa: E402

try:
    strategy = unisono.FullyShardedStrategy(shard_group="machine", min_shard_size=0)
except ValueError as error:
    print("refused:", " ".join(str(error).split()), flush=True)
    sys.exit(0)
values, model = sharded.train(strategy)
kernel = model.layers[0].kernel.value
# Both machines have all of it, each device half.
own = {str(shard.index) for shard in kernel.addressable_shards}
print(
    "mesh", dict(strategy.placement.mesh.shape), "shards here", len(own), "of", kernel.addressable_shards[0].data.shape
)
np.savez(f"{sys.argv[2]}/machine-{jax.process_index()}.npz", **values)
