"""`--as-tensorflow` with Unisono, Keras and JAX themselves."""

import json
import socket
import textwrap
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

# As old scripts begin. Each must give a name that can be used.
FORMS = """
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.layers import Conv2D, Dense
import tensorflow.keras.backend as K
import tensorflow.keras.layers as L
from tensorflow.keras.models import Sequential, load_model
from tensorflow.keras.optimizers import Adam
from tensorflow.keras.optimizers.schedules import ExponentialDecay
from tensorflow.keras.callbacks import ModelCheckpoint, TensorBoard
from tensorflow.keras.utils import to_categorical
from tensorflow.keras.datasets import fashion_mnist, mnist
from tensorflow.keras.datasets.mnist import load_data
from tensorflow.keras.applications import ResNet50
from tensorflow.keras.applications.resnet50 import preprocess_input
from tensorflow.keras.regularizers import l2
from tensorflow.distribute import MirroredStrategy
import tensorflow.distribute as distribute
from tensorflow.distribute.experimental import MultiWorkerMirroredStrategy
from tensorflow.distribute.cluster_resolver import TFConfigClusterResolver
from tensorflow.data import AUTOTUNE, Dataset
import tensorflow.data.experimental as experimental
import tensorflow.math as math
import tensorflow.nn as nn
from tensorflow.io import gfile
import tensorflow.io.gfile as gfile
from tensorflow.train import Checkpoint
from tensorflow.config import list_physical_devices
import tensorflow.compat.v2 as tf
import tensorflow.compat.v1 as tf
import tensorflow.compat.v1.keras.backend as K
import tensorflow_datasets as tfds
"""

SAME = {
    "tensorflow": "unisono.tf",
    "tensorflow.keras": "unisono.tf.keras",
    "tensorflow.distribute": "unisono.tf.distribute",
    "tensorflow_datasets": "unisono.tfds",
}

ONE_PROCESS = f"""
os.environ["KERAS_BACKEND"] = "tensorflow"
import importlib.util, keras, numpy as np, sys
assert keras.backend.backend() == "jax"
for statement in {FORMS.strip().splitlines()!r}:
    exec(statement, {{}})
for name, real in {SAME!r}.items():
    assert sys.modules[name] is sys.modules[real], name
    assert importlib.util.find_spec(name).name == real

for statement in ("import tensorflow.estimator", "from tensorflow import estimator"):
    try:
        exec(statement, {{}})
    except ImportError as error:
        assert "tf.estimator is not available" in str(error), (statement, error)
    else:
        raise AssertionError(statement)

# Keras saves, loads and preprocesses as it does without TensorFlow.
import tensorflow as tf
with tf.distribute.MirroredStrategy().scope():
    flip = keras.layers.RandomFlip(seed=1)
    model = keras.Sequential([keras.Input((4, 4, 1)), flip, keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
images = np.ones((8, 4, 4, 1), "float32")
model.fit(images, np.ones((8, 1)), verbose=0)
model.save("model.keras")
np.testing.assert_allclose(keras.models.load_model("model.keras").predict(images), model.predict(images), rtol=1e-6)
normalization = keras.layers.Normalization(axis=None)
normalization.adapt(tf.data.Dataset.from_tensor_slices(np.arange(4.0)).batch(2))
assert normalization.mean.numpy().item() == 1.5
(flipped,) = tf.data.Dataset.from_tensor_slices(images).map(flip).batch(8)
assert flipped.shape.as_list() == [8, 4, 4, 1]
from keras.src.utils import module_utils
assert not module_utils.tensorflow.available
assert keras.layers.Hashing(3)(np.arange(2)).shape == (2,)
assert len(keras.datasets.mnist.load_data()[0][0]) == 60000
"""


@pytest.mark.full
def test_an_old_script_finds_what_it_imports(run):
    code, _, err = run(ONE_PROCESS, "--as-tensorflow", "--devices", "cpu:2", env={"KERAS_BACKEND": "tensorflow"})
    assert code == 0, err


MAIN = """
import json, os
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
index = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(tf.data.Dataset.from_tensor_slices((tf.ones((8, 2)), tf.ones((8, 1)))).batch(4), verbose=0)
with open(f"found-{index}", "w") as file:
    json.dump([strategy.num_replicas_in_sync, strategy.cluster_resolver.task_id], file)
"""

DRIVER = """
import json
ports = PORTS
children = []
for index in range(2):
    cluster = {"worker": [f"localhost:{port}" for port in ports]}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
    children.append(subprocess.Popen([sys.executable, "main.py"]))
assert [child.wait() for child in children] == [0, 0]
assert not Path(os.environ["UNISONO_STATUS"]).exists(), "how far children are is not how far the worker is"
"""


def found(folder: Path) -> list[list[int]]:
    return [json.loads((folder / f"found-{index}").read_text()) for index in (0, 1)]


@pytest.mark.full
def test_a_script_that_starts_a_cluster_by_hand_gets_it(run, tmp_path):
    """As the tutorials of several workers do, with TF_CONFIG and `python main.py`."""
    (tmp_path / "main.py").write_text(textwrap.dedent(MAIN))
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    code, _, err = run(DRIVER.replace("PORTS", repr(ports)), "--as-tensorflow", "--devices", "cpu:2")
    assert code == 0, err
    assert found(tmp_path) == [[4, 0], [4, 1]]


def test_several_workers_run_one_script(run, tmp_path):
    code, _, err = run(MAIN, "-n", "2", "--devices", "cpu:1", "--as-tensorflow")
    assert code == 0, err
    assert found(tmp_path) == [[2, 0], [2, 1]]
