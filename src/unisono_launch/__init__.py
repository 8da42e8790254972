"""What starts training and says who takes part in it. The standard library and rich: no JAX, no Keras, no NumPy."""
