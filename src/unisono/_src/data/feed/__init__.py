"""Input of training: whatever a user passes to `fit` becomes a feed of chunks of steps on the devices."""

from unisono._src.data.feed._batches import HostBatches
from unisono._src.data.feed._feed import DataPass, Feed, StepChunk
from unisono._src.data.feed._indexed import IndexedFeed
from unisono._src.data.feed._open import open_feed, single_batch_feed, unwrap_distributed
from unisono._src.data.feed._readers import Reader, StackReader, batches_per_stack
