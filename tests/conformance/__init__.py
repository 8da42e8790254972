"""Conformance: the same plans on tf.data and on unisono.data, TensorFlow's side recorded as JSON.

`plans.py` is the table, `record.py` writes what TensorFlow says, the tests compare, and `differences.py` says where
and why we differ on purpose.
"""
