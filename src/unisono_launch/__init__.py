"""What starts training and says who takes part in it. Python's standard library alone: no JAX, no Keras, no NumPy."""
