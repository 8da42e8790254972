"""Shapes and dtypes of a batch as JSON, for positions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def spec_to_json(spec: Any) -> Any:
    """A nest of dicts, lists, tuples and None over ShapeDtypeStructs."""
    match spec:
        case None:
            return None
        case dict():
            return {"dict": {name: spec_to_json(each) for name, each in spec.items()}}
        case tuple():
            return {"tuple": [spec_to_json(each) for each in spec]}
        case list():
            return {"list": [spec_to_json(each) for each in spec]}
    return {"shape": list(spec.shape), "dtype": spec.dtype.name}


def spec_from_json(encoded: Any) -> Any:
    """The spec that `spec_to_json` was given."""
    match encoded:
        case None:
            return None
        case {"dict": names}:
            return {name: spec_from_json(each) for name, each in names.items()}
        case {"tuple": nests}:
            return tuple(spec_from_json(each) for each in nests)
        case {"list": nests}:
            return [spec_from_json(each) for each in nests]
    return jax.ShapeDtypeStruct(tuple(encoded["shape"]), jnp.dtype(encoded["dtype"]))
