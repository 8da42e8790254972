"""`keras.ops.cond` where operations are carried out one by one."""

import jax
import jax.numpy as jnp
import keras
import numpy as np


def test_the_result_of_a_branch_is_arrays() -> None:
    result = keras.ops.cond(jnp.array(True), lambda: (1.0, np.ones(2), [True, None]), lambda: (2.0, 3, [False, None]))
    leaves = jax.tree.leaves(result)
    assert all(isinstance(leaf, jax.Array) for leaf in leaves)
    assert [leaf.tolist() for leaf in leaves] == [1.0, [1.0, 1.0], True]
    assert result[2][1] is None
