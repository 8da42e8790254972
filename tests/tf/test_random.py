"""`tf.random`: new numbers at every call, the same in every run with a seed, from the right distributions."""

import numpy as np
import pytest

import unisono.tf as tf


def test_set_seed_repeats_the_numbers():
    def drawn():
        tf.random.set_seed(5)
        dense = tf.keras.layers.Dense(2)
        dense.build((None, 3))
        return [tf.random.normal([3]), tf.random.uniform([3], seed=1), dense.kernel, tf.random.shuffle(tf.range(9))]

    for first, second in zip(drawn(), drawn(), strict=True):
        np.testing.assert_array_equal(first, second)


def test_every_call_draws_new_numbers_also_with_a_seed():
    assert not np.array_equal(tf.random.normal([4]), tf.random.normal([4]))
    assert not np.array_equal(tf.random.uniform([4], seed=3), tf.random.uniform([4], seed=3))


def test_a_compiled_function_draws_new_numbers_at_every_call():
    @tf.function
    def draw():
        return tf.random.uniform([4]), tf.nn.dropout(tf.ones([64]), 0.5), tf.random.normal([2], seed=1)

    for first, second in zip(draw(), draw(), strict=True):
        assert not np.array_equal(first, second)


@pytest.mark.full
def test_numbers_have_the_right_distribution_and_dtype():
    normal = np.asarray(tf.random.normal([4000], mean=3.0, stddev=2.0))
    assert abs(normal.mean() - 3) < 0.2
    assert abs(normal.std() - 2) < 0.2
    cut = np.asarray(tf.random.truncated_normal([4000], mean=1.0))
    assert np.abs(cut - 1).max() <= 2
    whole = np.asarray(tf.random.uniform([4000], minval=2, maxval=5, dtype=tf.int32))
    assert set(whole.tolist()) == {2, 3, 4}
    part = np.asarray(tf.random.uniform([4000], -1.0, 1.0))
    assert -1 <= part.min() < -0.9
    assert 0.9 < part.max() < 1
    gamma = np.asarray(tf.random.gamma([4000], alpha=[2.0, 8.0], beta=2.0))
    assert gamma.shape == (4000, 2)
    np.testing.assert_allclose(gamma.mean(0), [1, 4], rtol=0.15)
    counts = np.asarray(tf.random.poisson([4000], lam=[3.0]))
    np.testing.assert_allclose(counts.mean(0), [3], rtol=0.1)
    assert counts.dtype == np.float32
    classes = np.asarray(tf.random.categorical(tf.math.log([[0.1, 0.9], [0.5, 0.5]]), 4000))
    np.testing.assert_allclose(classes.mean(1), [0.9, 0.5], atol=0.05)
    assert sorted(np.asarray(tf.random.shuffle([3, 1, 2])).tolist()) == [1, 2, 3]
    with pytest.raises(ValueError, match="maxval=10"):
        tf.random.uniform([2], dtype=tf.int32)


def test_dropout_zeroes_elements_and_scales_the_rest():
    values = np.asarray(tf.nn.dropout(tf.ones([1000]), rate=0.2))
    assert set(np.unique(values).tolist()) == {0.0, 1.25}
    assert 700 < np.count_nonzero(values) < 900
    rows = np.asarray(tf.nn.dropout(tf.ones([8, 8]), 0.5, noise_shape=[8, 1]))
    assert np.all(rows == rows[:, :1])
    with pytest.raises(ValueError, match="rate is 1"):
        tf.nn.dropout(tf.ones([3]), 1.0)


@pytest.mark.full
def test_stateless_numbers_depend_only_on_the_seed():
    draws = {
        "normal": lambda seed: tf.random.stateless_normal([3], seed),
        "truncated": lambda seed: tf.random.stateless_truncated_normal([3], seed),
        "uniform": lambda seed: tf.random.stateless_uniform([3], seed, minval=0, maxval=1000, dtype=tf.int32),
        "full": lambda seed: tf.random.stateless_uniform([3], seed, minval=None, maxval=None, dtype=tf.int32),
        "categorical": lambda seed: tf.random.stateless_categorical([[0.0] * 50], 5, seed),
        "gamma": lambda seed: tf.random.stateless_gamma([3], seed, alpha=2.0),
        "poisson": lambda seed: tf.random.stateless_poisson([30], seed, lam=9.0),
        "binomial": lambda seed: tf.random.stateless_binomial([30], seed, counts=20, probs=0.5),
        "shuffle": lambda seed: tf.random.experimental.stateless_shuffle(tf.range(20), seed),
        "split": lambda seed: tf.random.split(seed, 2),
        "old split": lambda seed: tf.random.experimental.stateless_split(seed, 3),
        "fold": lambda seed: tf.random.fold_in(seed, 7),
        "old fold": lambda seed: tf.random.experimental.stateless_fold_in(seed, 8),
    }
    for name, draw in draws.items():
        first, again, other = draw([1, 2]), draw(tf.constant([1, 2])), draw([1, 3])
        np.testing.assert_array_equal(first, again, err_msg=name)
        assert not np.array_equal(first, other), name
    with pytest.raises(ValueError, match="two integers"):
        tf.random.stateless_normal([3], 1)


def test_a_generator_advances_and_can_be_reset():
    first, second = tf.random.Generator.from_seed(1), tf.random.Generator.from_seed(1)
    state = first.state.numpy()
    one, two = first.normal([3]), first.normal([3])
    assert not np.array_equal(one, two)
    np.testing.assert_array_equal(second.normal([3]), one)
    first.reset(state)
    first.skip(1)
    np.testing.assert_array_equal(first.normal([3]), two)
    first.reset_from_seed(1)
    np.testing.assert_array_equal(first.normal([3]), one)
    other = tf.random.Generator.from_state(state, alg="philox")
    np.testing.assert_array_equal(other.normal([3]), one)
    np.testing.assert_array_equal(tf.random.create_rng_state(1, alg=tf.random.Algorithm.PHILOX), state)


@pytest.mark.full
def test_a_generator_draws_from_all_distributions():
    generator = tf.random.Generator.from_non_deterministic_state()
    assert np.abs(np.asarray(generator.truncated_normal([500]))).max() <= 2
    assert set(np.asarray(generator.uniform([200], 0, 2, tf.int32)).tolist()) == {0, 1}
    assert generator.uniform_full_int([2], dtype=tf.uint32).dtype == tf.uint32
    assert generator.make_seeds(3).shape == (2, 3)
    assert 0 <= int(generator.binomial([], 5, 0.5)) <= 5
    one, two = generator.split(2)
    assert not np.array_equal(one.normal([3]), two.normal([3]))


def test_a_generator_advances_inside_functions_and_is_checkpointed(tmp_path):
    generator = tf.random.Generator.from_seed(3)
    draw = tf.function(lambda: generator.normal([2]))
    first, second = draw(), draw()
    assert not np.array_equal(first, second)
    checkpoint = tf.train.Checkpoint(generator=generator)
    path = checkpoint.save(str(tmp_path / "saved"))
    third = draw()
    checkpoint.restore(path)
    np.testing.assert_array_equal(draw(), third)


def test_every_replica_draws_different_numbers():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        generator = tf.random.Generator.from_seed(3)
    values = strategy.run(lambda: (generator.normal([2]), tf.random.uniform([2])))
    for value in values:
        first, second = strategy.experimental_local_results(value)
        assert not np.array_equal(first, second)
    assert generator.state.numpy()[1] == 1


def test_numbers_in_a_dataset_map_depend_on_the_element():
    dataset = tf.data.Dataset.range(4).map(lambda x: tf.random.uniform([]))
    first = [float(x) for x in dataset]
    assert len(set(first)) == 4


def test_the_global_generator_can_be_replaced():
    before = tf.random.get_global_generator()
    mine = tf.random.experimental.Generator.from_seed(8)
    tf.random.set_global_generator(mine)
    try:
        assert tf.random.experimental.get_global_generator() is mine
    finally:
        tf.random.experimental.set_global_generator(before)


def test_candidates_differ_and_low_classes_are_drawn_more_often() -> None:
    drawn = [
        tf.random.log_uniform_candidate_sampler(
            true_classes=tf.constant([[0], [19]], tf.int64), num_true=1, num_sampled=6, unique=True, range_max=20
        )
        for _ in range(100)
    ]
    assert all(len(set(classes.numpy().tolist())) == 6 for classes, _, _ in drawn)
    often = np.bincount(np.concatenate([classes.numpy() for classes, _, _ in drawn]), minlength=20) / 100
    _, right, few = drawn[0]
    assert right.shape == (2, 1)
    assert few.shape == (6,)
    np.testing.assert_allclose(right.numpy()[:, 0], [0.879, 0.124], atol=1e-3)  # in all they add up to 6
    assert often[0] == pytest.approx(0.88, abs=0.15)
    assert often[:5].sum() > often[15:].sum()
    with pytest.raises(ValueError, match="num_sampled is 21"):
        tf.random.uniform_candidate_sampler([[1]], 1, 21, True, 20)
    _, right, _ = tf.random.uniform_candidate_sampler([[1]], 1, 6, False, 20)
    assert right.numpy() == pytest.approx(0.3)


@pytest.mark.full
def test_sampled_losses_match_tensorflow_and_have_gradients() -> None:
    weights = tf.Variable(np.linspace(-1, 1, 80, dtype="float32").reshape(20, 4))
    biases, inputs = np.zeros(20, "float32"), np.linspace(1, -1, 8, dtype="float32").reshape(2, 4)
    labels = tf.constant([[1], [2]], tf.int64)
    sampled = (tf.constant([4, 1, 7]), tf.constant([[0.5], [0.4]]), tf.constant([0.2, 0.5, 0.1]))
    nce = tf.nn.nce_loss(weights, biases, labels, inputs, 3, 20, sampled_values=sampled)
    softmax = tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 3, 20, sampled_values=sampled)
    np.testing.assert_allclose(nce, [4.499943, 8.569290], rtol=1e-5)  # TensorFlow's
    np.testing.assert_allclose(softmax, [3.260255, 1.509515], rtol=1e-5)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels, inputs, num_sampled=3, num_classes=20))
    assert np.abs(tape.gradient(loss, weights)).sum() > 0
