"""Batches in: anything a user passes to `fit` becomes a feed of windows over arrays on the devices."""

from unisono.input._batches import Batches as Batches
from unisono.input._feed import Feed as Feed
from unisono.input._feed import Pass as Pass
from unisono.input._feed import Window as Window
from unisono.input._open import feed_of_one as feed_of_one
from unisono.input._open import open_feed as open_feed
from unisono.input._readers import Reader as Reader
