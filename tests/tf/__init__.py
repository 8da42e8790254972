"""The namespace of TensorFlow's names."""
