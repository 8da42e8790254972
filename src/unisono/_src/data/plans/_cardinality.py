"""How many elements a plan gives: a number, or one of tf.data's two constants."""

from __future__ import annotations

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
