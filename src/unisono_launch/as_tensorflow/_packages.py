"""Packages that need TensorFlow itself: its kernels, its graphs, or its private modules."""

from __future__ import annotations

from typing import Final

NEED_TENSORFLOW: Final = frozenset(
    {
        "tensorflow_addons",
        "tensorflow_compression",
        "tensorflow_data_validation",
        "tensorflow_decision_forests",
        "tensorflow_estimator",
        "tensorflow_federated",
        "tensorflow_gnn",
        "tensorflow_hub",
        "tensorflow_io",
        "tensorflow_lattice",
        "tensorflow_model_optimization",
        "tensorflow_privacy",
        "tensorflow_probability",
        "tensorflow_ranking",
        "tensorflow_recommenders",
        "tensorflow_text",
        "tensorflow_transform",
        "tensorflowjs",
        "tf_agents",
        "tf_slim",
    }
)

# Parts of TensorFlow Probability for TensorFlow. `tensorflow_probability.substrates.jax` has the same ones for JAX.
_PROBABILITY: Final = frozenset(
    [
        "bijectors",
        "debugging",
        "distributions",
        "experimental",
        "glm",
        "layers",
        "math",
        "mcmc",
        "monte_carlo",
        "optimizer",
        "random",
        "stats",
        "sts",
        "util",
        "vi",
    ]
)


def needs_tensorflow(module: str) -> bool:
    """Whether a module of TensorFlow Probability is one for TensorFlow.

    >>> needs_tensorflow("tensorflow_probability.python.distributions"), needs_tensorflow("tensorflow_probability")
    (True, False)
    """
    parts = module.split(".")
    return parts[:2] == ["tensorflow_probability", "python"] and len(parts) > 2 and parts[2] in _PROBABILITY
