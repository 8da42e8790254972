"""Mistakes in custom loops and models."""

from tests.errors.mistake import Mistake

_STRATEGY = 'strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])\n'

LOOPS = [
    Mistake(
        title="The function is called before `run` gets it",
        typed="def step():\n    return 1.0\n\n\nstrategy.run(step())\n",
        given=_STRATEGY,
        at="strategy.run",
        says=("run takes a function", "got a value of type float", "strategy.run(step, args=(x, y))"),
        do="`strategy.run(step)`.",
    ),
    Mistake(
        title="One argument without its tuple",
        typed="strategy.run(lambda batch: batch * 2, args=np.ones(3))\n",
        given=_STRATEGY,
        at="strategy.run",
        says=("args is a tuple", "type ndarray", "args=(x,)"),
        do="`args=(batch,)`, with the comma.",
    ),
    Mistake(
        title="The sum of a value that is the same everywhere",
        typed='strategy.reduce("SUM", np.float32(1), axis=None)\n',
        given=_STRATEGY,
        at="strategy.reduce",
        says=("is one value for all replicas", "what `strategy.run` returned"),
        do="Reduce what `strategy.run` returned.",
    ),
    Mistake(
        title="An unknown reduction",
        typed='strategy.reduce("average", strategy.run(lambda: 1.0), axis=None)\n',
        given=_STRATEGY,
        at="strategy.reduce",
        says=("'average' is not a reduction", "unisono.ReduceOp.SUM or MEAN"),
        do="`unisono.ReduceOp.MEAN`.",
    ),
    Mistake(
        title="A value of a compiled function as a Python number",
        typed="@unisono.function\ndef double(x):\n    return float(x) * 2\n\n\ndouble(np.float32(3))\n",
        given="",
        at="return float(x)",
        says=("double is compiled", "Python cannot read them now", "return what you want to print or to convert"),
        do="Return `x * 2`, and call `float` on the result.",
    ),
    Mistake(
        title="A Python condition on a value in `call`",
        typed=(
            "class Model(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
            "        self.dense = keras.layers.Dense(10)\n\n    def call(self, x):\n"
            "        return self.dense(x) if float(keras.ops.mean(x)) > 0 else x\n\n\n"
            'with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():\n    own = Model()\n'
            '    own.compile("sgd", "mse")\n'
            "own.fit(x, np.ones((8, 10)))\n"
        ),
        at="float(keras.ops.mean(x))",
        says=("Model.call is compiled", "keras.ops.cond("),
        do="`keras.ops.cond` or `keras.ops.where`.",
    ),
    Mistake(
        title="A value is stored in a list by a function that runs on replicas",
        typed=(
            "losses = []\n\n\ndef step(x):\n    losses.append(x * 2)\n    return x\n\n\n"
            "strategy.run(step, args=(np.ones(2),))\nprint(sum(losses))\n"
        ),
        given=_STRATEGY,
        at="losses.append",
        says=("A function transformed by JAX had a side effect", "explicitly return their outputs"),
        do="Return the value from `step`; `strategy.run` returns the values of all replicas.",
    ),
    Mistake(
        title="The loss is computed outside the tape",
        typed=(
            "loss = keras.ops.mean(model(x))\nwith unisono.GradientTape() as tape:\n    loss = loss * 2\n"
            "gradients = tape.gradient(loss, model.trainable_variables)\n"
            "model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n"
        ),
        at="apply_gradients",
        says=("No gradients provided for any variable", "inside the tape"),
        do="Call the model inside the `with` block.",
    ),
    Mistake(
        title="A tape is used twice",
        typed=(
            "weight = keras.Variable(3.0)\nwith unisono.GradientTape() as tape:\n    loss = weight * weight\n"
            "tape.gradient(loss, weight)\ntape.gradient(loss, weight)  # again\n"
        ),
        given="",
        at="# again",
        says=("can only be used to compute one set of gradients", "GradientTape(persistent=True)"),
        do="Compute all gradients at once, or make the tape persistent.",
    ),
    Mistake(
        title="Arrays instead of a dataset",
        typed="strategy.experimental_distribute_dataset((np.ones((8, 2)), np.ones(8)))\n",
        given=_STRATEGY,
        at="experimental_distribute_dataset",
        says=(
            "expected a unisono.data.Dataset, got tuple",
            "Dataset.from_tensor_slices((x, y)).batch(global_batch_size)",
        ),
        do="Create a dataset from them.",
    ),
]
