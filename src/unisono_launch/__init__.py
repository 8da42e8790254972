"""What starts training and says who takes part in it. Python's standard library and rich: no JAX, no Keras, no NumPy."""
