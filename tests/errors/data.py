"""Mistakes in the data that `fit` gets."""

from tests.errors.mistake import Mistake

DATA = [
    Mistake(
        title="The dataset has no batches",
        typed="model.fit(dataset)\n",
        at="model.fit",
        says=("yields single elements", "Add .batch(global_batch_size)"),
        do="`dataset.batch(64)`: 64 rows for all devices together.",
    ),
    Mistake(
        title="The dataset has no end",
        typed="model.fit(dataset.repeat().batch(4))\n",
        at="model.fit",
        says=("The data has no end", "Pass steps_per_epoch=...", "leave `.repeat()` out"),
        do="`fit(…, steps_per_epoch=100)`, or leave `.repeat()` out.",
    ),
    Mistake(
        title="More steps than the data has",
        typed="model.fit(dataset.batch(4), steps_per_epoch=5, verbose=0)\n",
        at="model.fit",
        is_warning=True,
        says=("ran out of data after 2 of steps_per_epoch=5 steps", "`.repeat()`", "leave steps_per_epoch out"),
        do="`dataset.repeat().batch(4)`, or leave `steps_per_epoch` out.",
    ),
    Mistake(
        title="A generator for several epochs",
        typed="batches = ((x, y) for _ in range(3))\nmodel.fit(batches, epochs=2, verbose=0)\n",
        at="model.fit",
        is_warning=True,
        says=("The generator ended after 3 batches", "cannot begin again", "keras.utils.PyDataset"),
        do="`unisono.data.Dataset.from_generator(make_batches, …)`, which calls the function for each epoch.",
    ),
    Mistake(
        title="Rows of different shapes in one batch",
        typed=(
            "def rows():\n    yield np.ones(3)\n    yield np.ones(5)\n\n\n"
            'ragged = unisono.data.Dataset.from_generator(rows, output_types="float32", output_shapes=(None,))\n'
            "for batch in ragged.batch(2):\n    print(batch)\n"
        ),
        given="",
        at="for batch in",
        says=("has shape (3,) in one row and (5,) in another", "padded_batch(...)"),
        do="`ragged.padded_batch(2)`.",
    ),
    Mistake(
        title="Labels for more classes than the model has",
        typed="model.fit(x, y + 3)\n",
        at="model.fit",
        says=("class 10 in row 7", "classes 0 to 9", "Dense(11)"),
        do="Count classes from 0, or give the last layer more units.",
    ),
    Mistake(
        title="Metrics as the third argument of `compile`",
        typed=(
            "import unisono\nimport keras\n\n"
            "with unisono.MirroredStrategy().scope():\n"
            "    model = keras.Sequential([keras.layers.Dense(10)])\n"
            '    model.compile("sgd", "mse", ["accuracy"])\n'
        ),
        at="model.compile",
        how="process",  # `unisono.tf` accepts it, and may have been imported in the process of the tests
        says=("loss_weights=['accuracy']", "numbers", 'metrics=["accuracy"]'),
        do='`model.compile("sgd", "mse", metrics=["accuracy"])`.',
    ),
    Mistake(
        title="Class numbers with the loss for one-hot labels",
        typed='model.compile("sgd", "categorical_crossentropy")\nmodel.fit(x, y)\n',
        at="model.fit",
        says=("must have the same shape", 'loss "sparse_categorical_crossentropy"', "keras.utils.to_categorical(y)"),
        do='`loss="sparse_categorical_crossentropy"`, with `from_logits=True` if the last layer has no softmax.',
    ),
    Mistake(
        title="Features without labels",
        typed="model.fit(unisono.data.Dataset.from_tensor_slices(x).batch(4))\n",
        at="model.fit",
        says=("The data may have no labels", "yield pairs: (features, labels)"),
        do="`Dataset.from_tensor_slices((x, y))`.",
    ),
    Mistake(
        title="Labels in addition to a dataset",
        typed="model.fit(dataset.batch(4), y)\n",
        at="model.fit",
        says=("contains its y already", "leave `y` out"),
        do="`fit(dataset)`.",
    ),
    Mistake(
        title="Features and labels of different length",
        typed="model.fit(x, y[:7])\n",
        at="model.fit",
        says=("Make sure all arrays contain the same number of samples", "'x' sizes: 8", "'y' sizes: 7"),
        do="Find where a row was dropped.",
    ),
    Mistake(
        title="Lists instead of arrays",
        typed="model.fit([[1.0, 2.0], [3.0, 4.0]], [0, 1])\n",
        at="model.fit",
        says=("Unrecognized data type", "np.array(x)"),
        do="`fit(np.array(x), np.array(y))`.",
    ),
    Mistake(
        title="Text as input of a numeric layer",
        typed='model.fit(np.array([["a"], ["b"]]), y[:2])\n',
        at="model.fit",
        says=("Text stays on the host", "dataset.map(", "Sequential([vectorize, ...])"),
        do="Make `TextVectorization` the first layer.",
    ),
    Mistake(
        title="Images without channels",
        typed=(
            'with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():\n'
            "    cnn = keras.Sequential([keras.layers.Conv2D(8, 3), keras.layers.Flatten(), keras.layers.Dense(10)])\n"
            '    cnn.compile("sgd", "sparse_categorical_crossentropy")\ncnn.fit(np.ones((8, 28, 28)), y)\n'
        ),
        at="cnn.fit",
        says=("expected min_ndim=4, found ndim=3", "x[..., None]"),
        do="`fit(x[..., None], y)`.",
    ),
    Mistake(
        title="`validation_split` with a dataset",
        typed="model.fit(dataset.batch(4), validation_split=0.2)\n",
        at="model.fit",
        says=("`validation_split` is only supported for", "dataset.take(n)", "dataset.skip(n)"),
        do="`fit(dataset.skip(1000).batch(64), validation_data=dataset.take(1000).batch(64))`.",
    ),
    Mistake(
        title="A learning rate that is too high",
        typed='model.compile(keras.optimizers.SGD(1e30), "mse")\nmodel.fit(x, np.ones((8, 10)), epochs=3, verbose=0)\n',
        at="model.fit",
        is_warning=True,
        says=("The loss has been", "since epoch 2, step 1", "a lower learning rate", "TerminateOnNaN()"),
        do="Lower the learning rate; look at the batch of that step.",
    ),
]
