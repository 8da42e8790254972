"""Starts training and finds out which processes take part. Needs rich and packaging; no JAX, no Keras, no NumPy."""
