"""`tf.random.Generator`: a random number generator whose state is a variable."""

from __future__ import annotations

import enum
import secrets
from typing import Any, Final

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono._src.replicas import context
from unisono._src.tracing import functions
from unisono.tf._module import Module
from unisono.tf._operands import static_int
from unisono.tf._tensors import as_array
from unisono.tf.random._sampling import (
    sample_binomial,
    sample_full_int,
    sample_normal,
    sample_truncated_normal,
    sample_uniform,
)
from unisono.tf.random._seed_generators import check_state_advances, key_from_pair

_SEED_RANGE: Final = 2**32

NEEDS_STATE = """tf.random.Generator() needs a state. Write tf.random.Generator.from_seed(1),
from_non_deterministic_state() or from_state(state, alg="philox")."""


class Algorithm(enum.Enum):
    """Names of algorithms. All of them mean the only one, JAX's Threefry."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


class Generator(Module):
    """A random number generator. Its state is a variable: checkpoints contain it, and compiled functions update it.

    Inside `strategy.run` every replica draws different numbers.

    >>> first, again = Generator.from_seed(1), Generator.from_seed(1)
    >>> bool((first.normal([3]) == again.normal([3])).all())
    True
    """

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        super().__init__(name="generator")
        if copy_from is not None:
            state = copy_from.state
        if state is None:
            raise ValueError(NEEDS_STATE)
        pair = _to_key_and_counter(state)
        self._seeds: Any
        if context.current_replica() is not None and functions.creates_every_time():
            self._seeds = _SeedsOfOneCall(pair)
            self._state = self._seeds.state
            return
        first = 0 if isinstance(pair, jax.core.Tracer) else int(pair[0])
        self._seeds = keras.random.SeedGenerator(first)
        self._state = self._seeds.state  # an attribute, so that checkpoints find it
        self.reset(pair)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Returns a generator that starts from ``seed``."""
        return cls(state=create_rng_state(seed, alg))

    @classmethod
    def from_state(cls, state: Any, alg: Any = None) -> Generator:
        """Returns a generator that continues from the state of another one."""
        return cls(state=state)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Returns a generator with different numbers in every run."""
        return cls(state=create_rng_state(secrets.randbits(32), alg))

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any = None) -> Generator:
        """Returns a generator with this key and counter."""
        return cls(state=np.array([static_int(key) % _SEED_RANGE, int(np.ravel(counter)[0]) % _SEED_RANGE], np.uint32))

    @property
    def state(self) -> Any:
        """The variable that determines all further numbers."""
        return self._state

    @property
    def algorithm(self) -> int:
        """The number of the algorithm, Threefry."""
        return Algorithm.THREEFRY.value

    @property
    def key(self) -> Any:
        """The part of the state that does not change."""
        return self.state.value[0]

    def reset(self, state: Any) -> None:
        """Continues from ``state``."""
        self.state.assign(_to_key_and_counter(state))

    def reset_from_seed(self, seed: Any) -> None:
        """Restarts from ``seed``."""
        self.reset(create_rng_state(seed))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Restarts with this key and counter."""
        self.reset(np.array([static_int(key) % _SEED_RANGE, int(np.ravel(counter)[0]) % _SEED_RANGE], np.uint32))

    def skip(self, delta: Any) -> Any:
        """Skips ``delta`` draws; returns the new state."""
        self.state.assign(self.state.value + jnp.stack([jnp.uint32(0), as_array(delta).astype(jnp.uint32)]))
        return self.state.value

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", name: Any = None) -> Any:
        """Samples from a normal distribution."""
        return sample_normal(self._next_key(), shape, mean, stddev, dtype)

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", name: Any = None
    ) -> Any:
        """Samples from a normal distribution truncated at two standard deviations from the mean."""
        return sample_truncated_normal(self._next_key(), shape, mean, stddev, dtype)

    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", name: Any = None) -> Any:
        """Samples uniformly from [minval, maxval); integers if the dtype is an integer dtype."""
        return sample_uniform(self._next_key(), shape, minval, maxval, dtype, "Generator.uniform")

    def uniform_full_int(self, shape: Any, dtype: Any = "uint64", name: Any = None) -> Any:
        """Samples integers from the full range of the dtype."""
        return sample_full_int(self._next_key(), shape, dtype)

    def binomial(self, shape: Any, counts: Any, probs: Any, dtype: Any = "int32", name: Any = None) -> Any:
        """Samples from binomial distributions."""
        return sample_binomial(self._next_key(), shape, counts, probs, dtype)

    def make_seeds(self, count: Any = 1) -> Any:
        """Returns seeds for the stateless functions, of shape `[2, count]`."""
        return sample_full_int(self._next_key(), (2, static_int(count)), "int64")

    def split(self, count: Any = 1) -> list[Generator]:
        """Returns ``count`` generators with independent numbers."""
        keys = jax.random.key_data(jax.random.split(self._next_key(), static_int(count)))
        return [Generator(state=pair) for pair in keys]

    def _next_key(self) -> Any:
        is_local = isinstance(self._seeds, _SeedsOfOneCall)
        return key_from_pair((self._seeds if is_local else check_state_advances(self._seeds)).next())


class _StateOfOneCall:
    """In place of a variable, for a generator that lives as long as one call of a function on a replica."""

    def __init__(self, value: Any) -> None:
        self.value, self.shape, self.dtype = value, value.shape, value.dtype

    def assign(self, value: Any) -> None:
        self.value = value


class _SeedsOfOneCall:
    """In place of Keras's SeedGenerator; draws the numbers that one with this state draws on a replica."""

    def __init__(self, pair: Any) -> None:
        self.state = _StateOfOneCall(pair)

    def next(self) -> Any:
        seed = self.state.value
        self.state.assign(seed + jnp.array([0, 1], jnp.uint32))
        replica = context.current_replica()
        return seed if replica is None or replica.axis is None else jax.random.fold_in(seed, replica.index)


def create_rng_state(seed: Any, alg: Any = None) -> Any:
    """Returns the state of a generator that starts from ``seed``: a key and a counter."""
    number = int(np.ravel(np.asarray(seed))[0])
    return np.array([number % _SEED_RANGE, 0], np.uint32)


_global: list[Generator] = []


def get_global_generator() -> Generator:
    """Returns the generator of the process."""
    if not _global:
        with context.outside_of_strategies():
            _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator: Generator) -> None:
    """Replaces the generator of the process."""
    _global[:] = [generator]


def _to_key_and_counter(state: Any) -> Any:
    """Returns a state as key and counter. Accepts TensorFlow's state of three numbers, which has the counter first."""
    numbers = as_array(state).astype(jnp.uint32)
    if tuple(numbers.shape) == (3,):
        return numbers[jnp.array([2, 0])]
    if tuple(numbers.shape) != (2,):
        raise ValueError(f"The state has the shape {tuple(numbers.shape)}. Expected two integers, a key and a counter.")
    return numbers
