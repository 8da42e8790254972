"""Batches in: anything a user passes to `fit` becomes a feed of windows over arrays on the devices."""

from unisono._src.data.feed._batches import Batches
from unisono._src.data.feed._feed import Feed, Pass, Window
from unisono._src.data.feed._open import feed_of_one, open_feed
from unisono._src.data.feed._readers import Reader
