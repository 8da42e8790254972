"""`unisono tf-check`: which TensorFlow names a script uses, found without running it."""
