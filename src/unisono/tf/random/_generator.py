"""`tf.random.Generator`: a sequence of random numbers with a state that can be saved."""

from __future__ import annotations

import enum
import secrets
from typing import Any, Final

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono._src.replicas import context
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

_BITS: Final = 2**32

NOT_SO_MADE = """tf.random.Generator() needs {needs}. Make one with tf.random.Generator.from_seed(1),
from_non_deterministic_state() or from_state(state, alg="philox")."""


class Algorithm(enum.Enum):
    """Names of algorithms. All of them mean the one that there is, JAX's Threefry."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


class Generator(Module):
    """Random numbers from a state of its own, a variable: it is saved in checkpoints and counts on inside functions.

    Every replica draws numbers of its own inside `strategy.run`.

    >>> first, again = Generator.from_seed(1), Generator.from_seed(1)
    >>> bool((first.normal([3]) == again.normal([3])).all())
    True
    """

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        super().__init__(name="generator")
        if copy_from is not None:
            state = copy_from.state
        if state is None:
            raise ValueError(NOT_SO_MADE.format(needs="a state"))
        pair = _two_numbers(state)
        first = 0 if isinstance(pair, jax.core.Tracer) else int(pair[0])
        self._seeds = keras.random.SeedGenerator(first)
        self._state = self._seeds.state  # as an attribute of its own, so that checkpoints find it
        self.reset(pair)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A generator whose numbers follow from ``seed``."""
        return cls(state=create_rng_state(seed, alg))

    @classmethod
    def from_state(cls, state: Any, alg: Any = None) -> Generator:
        """A generator that goes on from where another one was."""
        return cls(state=state)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator whose numbers are others in every run."""
        return cls(state=create_rng_state(secrets.randbits(32), alg))

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any = None) -> Generator:
        """A generator with this key, that has counted so far."""
        return cls(state=np.array([static_int(key) % _BITS, int(np.ravel(counter)[0]) % _BITS], np.uint32))

    @property
    def state(self) -> Any:
        """The variable that decides all numbers to come."""
        return self._state

    @property
    def algorithm(self) -> int:
        """The number of the algorithm."""
        return Algorithm.THREEFRY.value

    @property
    def key(self) -> Any:
        """The part of the state that does not change."""
        return self.state.value[0]

    def reset(self, state: Any) -> None:
        """Goes on from ``state``."""
        self.state.assign(_two_numbers(state))

    def reset_from_seed(self, seed: Any) -> None:
        """Begins again, from ``seed``."""
        self.reset(create_rng_state(seed))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Begins again with this key and counter."""
        self.reset(np.array([static_int(key) % _BITS, int(np.ravel(counter)[0]) % _BITS], np.uint32))

    def skip(self, delta: Any) -> Any:
        """Leaves out so many draws."""
        self.state.assign(self.state.value + jnp.stack([jnp.uint32(0), as_array(delta).astype(jnp.uint32)]))
        return self.state.value

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", name: Any = None) -> Any:
        """Numbers of a normal distribution."""
        return sample_normal(self._next(), shape, mean, stddev, dtype)

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", name: Any = None
    ) -> Any:
        """Numbers of a normal distribution, none further from the mean than two deviations."""
        return sample_truncated_normal(self._next(), shape, mean, stddev, dtype)

    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", name: Any = None) -> Any:
        """Numbers from ``minval`` to below ``maxval``, all as likely; whole ones if the dtype is."""
        return sample_uniform(self._next(), shape, minval, maxval, dtype, "Generator.uniform")

    def uniform_full_int(self, shape: Any, dtype: Any = "uint64", name: Any = None) -> Any:
        """Whole numbers of the whole range of the dtype."""
        return sample_full_int(self._next(), shape, dtype)

    def binomial(self, shape: Any, counts: Any, probs: Any, dtype: Any = "int32", name: Any = None) -> Any:
        """How many of ``counts`` trials succeed."""
        return sample_binomial(self._next(), shape, counts, probs, dtype)

    def make_seeds(self, count: Any = 1) -> Any:
        """Seeds for the stateless functions, of the shape (2, count)."""
        return sample_full_int(self._next(), (2, static_int(count)), "int64")

    def split(self, count: Any = 1) -> list[Generator]:
        """So many generators with numbers of their own."""
        keys = jax.random.key_data(jax.random.split(self._next(), static_int(count)))
        return [Generator(state=pair) for pair in keys]

    def _next(self) -> Any:
        return key_from_pair(check_state_advances(self._seeds).next())


def create_rng_state(seed: Any, alg: Any = None) -> Any:
    """The state of a generator made from this seed: its key, and a counter."""
    number = int(np.ravel(np.asarray(seed))[0])
    return np.array([number % _BITS, 0], np.uint32)


_global: list[Generator] = []


def get_global_generator() -> Generator:
    """The generator that serves the whole process."""
    if not _global:
        with context.outside_of_strategies():
            _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator: Generator) -> None:
    """Another generator serves the whole process."""
    _global[:] = [generator]


def _two_numbers(state: Any) -> Any:
    """A state as this generator has it, a key and a counter; also of TensorFlow's, which has the counter first."""
    numbers = as_array(state).astype(jnp.uint32)
    if tuple(numbers.shape) == (3,):
        return numbers[jnp.array([2, 0])]
    if tuple(numbers.shape) != (2,):
        raise ValueError(f"The state of a generator has two numbers; got the shape {tuple(numbers.shape)}.")
    return numbers
