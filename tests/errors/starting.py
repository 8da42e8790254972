"""Mistakes when a script starts: imports, devices, scopes."""

from tests.errors.mistake import Mistake

STARTING = [
    Mistake(
        title="Another Keras backend is set",
        typed='import os\n\nos.environ["KERAS_BACKEND"] = "tensorflow"\nimport unisono\n',
        at="import unisono",
        how="process",
        says=("KERAS_BACKEND says 'tensorflow'", 'os.environ["KERAS_BACKEND"] = "jax"'),
        do="Remove the line, or the variable in the shell: Unisono selects JAX.",
    ),
    Mistake(
        title="A GPU is named, but there is none",
        typed='strategy = unisono.MirroredStrategy(["gpu:0", "gpu:1"])\n',
        given="",
        at="MirroredStrategy",
        says=(
            "There is no device gpu:0",
            "It has: cpu:0",
            "pip install -e '/path/to/unisono[cuda]'",
            "MirroredStrategy()",
        ),
        do="Install JAX for CUDA, or leave the names out.",
    ),
    Mistake(
        title="JAX is configured for GPUs, but finds none",
        typed=(
            'import os\n\nos.environ["JAX_PLATFORMS"] = "cuda"\nimport unisono\n\n'
            "strategy = unisono.MirroredStrategy()\n"
        ),
        at="MirroredStrategy()",
        how="process",
        says=("JAX_PLATFORMS=cuda", "no such device", "unisono doctor"),
        do="Type `unisono doctor`, and install what it says.",
    ),
    Mistake(
        title="A number of devices instead of names",
        typed="strategy = unisono.MirroredStrategy(4)\n",
        given="",
        at="MirroredStrategy(4)",
        says=("4 is a number", "['gpu:0', 'gpu:1', …]", "set_cpu_devices(4)"),
        do="Name the devices, or leave them out for all.",
    ),
    Mistake(
        title="A device name without its number",
        typed='strategy = unisono.OneDeviceStrategy("gpu")\n',
        given="",
        at="OneDeviceStrategy",
        says=("'gpu' is not a device", "'gpu:0'"),
        do='Write `"gpu:0"`.',
    ),
    Mistake(
        title="One device named twice",
        typed='strategy = unisono.MirroredStrategy(["cpu:0", "cpu:0"])\n',
        given="",
        at="MirroredStrategy",
        says=("cpu:0 named more than once", "Name each device once"),
        do="Name each device once.",
    ),
    Mistake(
        title="CPU devices are asked for after JAX has started",
        typed="weights = keras.ops.ones(3)\nunisono.config.set_cpu_devices(4)\n",
        given="",
        at="set_cpu_devices(4)",
        says=("JAX has already started with", "first line after `import unisono`", "UNISONO_CPU_DEVICES=4"),
        do="Move the line to the top of the script.",
    ),
    Mistake(
        title="The model is created outside the scope",
        typed=(
            'strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])\n'
            "model = keras.Sequential([keras.layers.Dense(10)])\n"
            'with strategy.scope():\n    model.compile("sgd", "mse")\n'
        ),
        given="",
        at="model.compile",
        says=("created outside the scope", "train on one device only", "with strategy.scope():"),
        do="Move the line that creates the model into the `with` block.",
    ),
    Mistake(
        title="The scope is not entered",
        typed=(
            'strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])\n'
            'model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile("sgd", "mse")\n'
            'model.fit(np.ones((8, 4), "float32"), np.ones((8, 1), "float32"), verbose=0)\n'
        ),
        given="",
        at="model.fit",
        says=(
            "created outside the scope of MirroredStrategy('cpu:0', 'cpu:1')",
            "one device only",
            "with strategy.scope():",
        ),
        do="Create and compile the model in a `with` block.",
        is_warning=True,
    ),
    Mistake(
        title="A model without a strategy is trained in a scope",
        typed=(
            'model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile("sgd", "mse")\n'
            'with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():\n'
            '    model.fit(np.ones((8, 4), "float32"), np.ones((8, 1), "float32"), verbose=0)\n'
        ),
        given="",
        at="model.fit",
        says=("created outside the scope", "is trained inside it", "with strategy.scope():"),
        do="Create and compile the model in the `with` block; `fit` may be outside it.",
    ),
    Mistake(
        title="A scope inside the scope of another strategy",
        typed=(
            'first, second = unisono.MirroredStrategy(["cpu:0"]), unisono.MirroredStrategy(["cpu:1"])\n'
            "with first.scope():\n    with second.scope():\n"
            "        model = keras.Sequential([keras.layers.Dense(10)])\n"
        ),
        given="",
        at="with second",
        says=("Cannot enter the scope of", "leave the first scope"),
        do="Create one strategy and use it in the whole script.",
    ),
    Mistake(
        title="An unknown axis in a layout",
        typed='strategy = unisono.ModelParallelStrategy({"batch": 2, "model": 4}, {"kernel": (None, "modell")})\n',
        given="",
        at="ModelParallelStrategy",
        says=("'kernel' names the axis 'modell'", "the mesh has batch, model"),
        do="Write one of the axes of the mesh.",
    ),
    Mistake(
        title="A mesh whose size differs from the number of devices",
        typed='strategy = unisono.ModelParallelStrategy({"batch": 3, "model": 4})\n',
        given="",
        at="ModelParallelStrategy",
        says=("needs 12 devices, and there are 8", "{'batch': 4, 'model': 2}"),
        do="Choose sizes that multiply to the number of devices.",
    ),
    Mistake(
        title="A process is forked after JAX has started",
        typed=(
            "import multiprocessing\n\nimport unisono\n\nstrategy = unisono.MirroredStrategy()\n\n\n"
            "def train(number):\n"
            "    with strategy.scope():\n        return number\n\n\n"
            'with multiprocessing.get_context("fork").Pool(1) as pool:\n    pool.map(train, [1])\n'
        ),
        at="pool.map",
        how="process",
        says=(
            "was forked from one in which JAX had started",
            'multiprocessing.get_context("spawn")',
            "unisono run -n 2",
        ),
        do='Use `get_context("spawn")`, or start several processes with `unisono run -n`.',
    ),
    Mistake(
        title="A misspelled argument of `fit`",
        typed="model.fit(x, y, epoch=3)\n",
        at="model.fit",
        says=("fit() got an unexpected keyword argument 'epoch'", "Did you mean 'epochs'?"),
        do="Write `epochs=3`.",
    ),
    Mistake(
        title="A TensorFlow name that does not exist",
        typed="import unisono.tf as tf\n\ntf.reduce_maen([1.0, 2.0])\n",
        given="",
        at="tf.reduce_maen",
        says=("tf.reduce_maen is not available", "tf.reduce_mean"),
        do="Write one of the similar names. `unisono tf-check script.py` lists all names in a script.",
    ),
    Mistake(
        title="A TensorFlow 1 name",
        typed="import unisono.tf as tf\n\nsession = tf.Session()\n",
        given="",
        at="tf.Session",
        says=("tf.Session", "there are no sessions", ".numpy()"),
        do="Call functions, and read their results.",
    ),
]
