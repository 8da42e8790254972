"""A process that starts, makes a model and trains it for one step: how long each of these takes.

`start.py LIBRARY NETWORK`, with "keras", "unisono" or "unisono.tf", and "none", "mlp", "resnet50" or "gpt2". Prints the
seconds since the start of the process, those of its cores together, and versions, as one line of JSON.
"""

import importlib
import importlib.metadata
import json
import sys
import time

_ROWS = {"mlp": 32, "resnet50": 256, "gpt2": 32}


def main() -> None:
    library, network = sys.argv[1:]
    began = time.perf_counter()
    seconds = {}

    def end_of(stage: str) -> None:
        seconds[stage] = time.perf_counter() - began

    module = importlib.import_module(library)
    if network == "none" and library == "keras":
        import jax  # noqa: F401  # Keras imports it with its backend, which it does at once
    end_of("import")
    cpu_seconds = time.process_time()
    if network != "none":
        import contextlib

        x, y = _data(network)
        scope = module.MirroredStrategy().scope() if library == "unisono" else contextlib.nullcontext()
        began += time.perf_counter() - began - seconds["import"]  # without making data
        with scope:
            model = _model(network)
        end_of("model")
        model.fit(x, y, batch_size=len(x), verbose=0)
        end_of("first step")
    print(json.dumps({"seconds": seconds, "import_cpu_seconds": cpu_seconds, "about": _about()}))


def _about() -> dict[str, str]:
    import jax

    device = jax.devices()[0]
    versions = {name: importlib.metadata.version(name) for name in ("jax", "keras")}
    return {**versions, "on": "cpu" if device.platform == "cpu" else device.device_kind}


def _data(network: str):
    import numpy as np

    rows = _ROWS[network]
    if network == "mlp":
        return np.zeros((rows, 784), "float32"), np.zeros(rows, "int32")
    from _large_models import LargeWork, load

    return load(LargeWork(network=network, rows=rows, steps=1))


def _model(network: str):
    if network == "mlp":
        from contenders._keras_model import compiled_model

        return compiled_model("mlp")
    from _large_models import LargeWork

    from contenders._keras_large import new_model

    return new_model(LargeWork(network=network, rows=_ROWS[network], steps=1))


if __name__ == "__main__":
    main()
