"""The hand-written program inside one `shard_map`."""

from __future__ import annotations

from functools import partial

from _protocol import serve

from contenders.hand_written import contender

if __name__ == "__main__":
    serve(partial(contender, replica_view=True))
