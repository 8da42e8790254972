"""`tf.keras.optimizers.legacy`: the optimizers of Keras that it had."""

# ruff: noqa: F401  (names that the module re-exports)

from keras.optimizers import SGD, Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, Optimizer, RMSprop

from unisono.tf._missing import explain_missing_names

__getattr__ = explain_missing_names("tf.keras.optimizers.legacy")
