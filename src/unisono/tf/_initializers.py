"""Initializers by the names that TensorFlow has at its top."""

from keras import initializers

constant_initializer = initializers.Constant
ones_initializer = initializers.Ones
random_normal_initializer = initializers.RandomNormal
random_uniform_initializer = initializers.RandomUniform
zeros_initializer = initializers.Zeros
