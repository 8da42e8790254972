"""Folders of arrays that exist completely or not at all.

A checkpoint is a folder of three files: the arrays, a state that JSON can hold, and a manifest, written last, that has
the SHA-256 of the other two and of itself. It is built in a staging folder and gets its name in one rename, so
that a listing of the folder, at any moment and after any kill, shows complete checkpoints and nothing else. Where a
folder cannot be renamed, as in a bucket, its manifest makes it a checkpoint. Several processes write a file of arrays
each.

What the arrays mean is decided by `state.checkpoint`. NumPy and safetensors only; no JAX and no Keras, and nothing is
unpickled.
"""

from unisono._src.state.store._background_writer import BackgroundWriter
from unisono._src.state.store._commit import commit
from unisono._src.state.store._commit_parts import StagedParts, is_staged, write_part
from unisono._src.state.store._dtypes import dtype_from_name, to_storable
from unisono._src.state.store._durable import make_folders
from unisono._src.state.store._errors import BadCheckpoint, CheckpointError
from unisono._src.state.store._json import JSON
from unisono._src.state.store._list import list_checkpoints, written_at
from unisono._src.state.store._load import LoadedCheckpoint, identify_files, is_committed, load, open_checkpoint
from unisono._src.state.store._location import Location, is_url, to_location
from unisono._src.state.store._pieces import ArrayInPieces, Index, Piece, whole_index
from unisono._src.state.store._remote_path import RemotePath
from unisono._src.state.store._remove import remove
from unisono._src.state.store._series import CheckpointSeries
from unisono._src.state.store._staged_file import staged_file
from unisono._src.state.store._stored_array import StoredArray
