"""Mistakes when models are saved, loaded and resumed."""

from tests.errors.mistake import Mistake

_TWO_MODELS = """\
with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    other = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
"""

# As a script that was ended after its first epoch, and is started again.
_BEGUN = """\
from unisono._src.training import _resume

x, y = np.ones((8, 4), "float32"), np.arange(8)


def make_model(units):
    with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = keras.Sequential([keras.layers.Dense(units), keras.layers.Dense(10)])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


make_model(16).fit(x, y, batch_size=8, resume="runs/a", verbose=0)
_resume._finished.clear()
"""

SAVING = [
    Mistake(
        title="A run is resumed with another batch size",
        typed='make_model(16).fit(x, y, batch_size=4, epochs=2, resume="runs/a")  # was: batch_size=8\n',
        given=_BEGUN,
        at="# was",
        says=("batch(8)", "batch(4)", "in another folder"),
        do="Resume with the same batch size, or name another folder.",
    ),
    Mistake(
        title="A run is resumed with another model",
        typed='make_model(32).fit(x, y, batch_size=8, epochs=2, resume="runs/a")  # was: make_model(16)\n',
        given=_BEGUN,
        at="# was",
        says=("(4, 32) here and (4, 16) in the checkpoint", "in another folder"),
        do="Create the same model as in the first run, or name another folder.",
    ),
    Mistake(
        title="`resume=True` without the launcher",
        typed="model.fit(x, y, resume=True)\n",
        at="model.fit",
        says=("was not started by it", "unisono run --run-dir runs/NAME script.py", 'resume="runs/NAME"'),
        do='`resume="runs/mnist"`, or start the script with `unisono run`.',
    ),
    Mistake(
        title="`resume` for a model without a strategy",
        typed=(
            "alone = keras.Sequential([keras.layers.Dense(1)])\n"
            'alone.compile("sgd", "mse")\nalone.fit(x, y, resume="runs/a")\n'
        ),
        at="alone.fit",
        says=("created outside every scope", "unisono.OneDeviceStrategy"),
        do="Create the model in the scope of a strategy.",
    ),
    Mistake(
        title="The folder of the checkpoints is a file",
        typed='open("runs", "w").close()\nmodel.fit(x, y, resume="runs")\n',
        at="model.fit",
        says=("could not be listed", "exists and is of another kind", "choose another"),
        do="Name another folder.",
    ),
    Mistake(
        title="Weights of another shape",
        typed='model.save_weights("saved")\nother.load_weights("saved")\n',
        given=_TWO_MODELS,
        at="other.load_weights",
        says=("has the shape (3, 1) here and (2, 1) in the checkpoint", "as they were made when it was saved"),
        do="Build the model with the sizes of the saved one, or pass `skip_mismatch=True`.",
    ),
    Mistake(
        title="There is no checkpoint yet",
        typed='model.load_weights(unisono.checkpoint.latest_checkpoint("runs/none"))\n',
        given=_TWO_MODELS,
        at="model.load_weights",
        says=("the path is None", "if path is not None:"),
        do="Check the name of the folder.",
    ),
    Mistake(
        title="A path without an extension in `ModelCheckpoint`",
        typed='unisono.callbacks.ModelCheckpoint("best")\n',
        given="",
        at="ModelCheckpoint",
        says=("has no extension", "'best.keras'", "save_weights_only=True"),
        do='`"best.keras"`.',
    ),
    Mistake(
        title="A saved model with a layer that is not imported",
        typed=(
            "class Double(keras.layers.Layer):\n    def call(self, x):\n        return x * 2\n\n\n"
            'keras.Sequential([keras.Input((2,)), Double()]).save("model.keras")\ndel Double\n'
            'keras.models.load_model("model.keras")\n'
        ),
        given="",
        at="load_model",
        says=("Could not locate class 'Double'", "@keras.saving.register_keras_serializable()"),
        do="Decorate the class, and import it before the model is loaded.",
    ),
]
