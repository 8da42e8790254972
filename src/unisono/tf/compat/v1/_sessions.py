"""`ConfigProto`, `Session` and `InteractiveSession`: scripts make them to set options of GPUs. Nothing runs in them."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from unisono.tf import config as tf_config

NO_SESSION: Final = (
    "there are no graphs and sessions; put @tf.function on a Python function, call it with arrays, and read results "
    "with .numpy()."
)


class SessionOptions:
    """SessionOptions by name. An option that was not set is an `SessionOptions` object, so that `a.b.c = 1` works."""

    def __init__(self, **options: Any) -> None:
        vars(self).update(options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = vars(self)[name] = SessionOptions()
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, name, value)

    def __bool__(self) -> bool:
        return bool(vars(self))

    def CopyFrom(self, other: SessionOptions) -> None:  # noqa: N802  (protobuf's name)
        """Takes the options of another object."""
        vars(self).update(vars(other))


class ConfigProto(SessionOptions):
    """SessionOptions of a session. Those for the memory and the number of GPUs take effect when a session is made."""


class GPUOptions(SessionOptions):
    """SessionOptions of GPUs: `allow_growth` and `per_process_gpu_memory_fraction`, `visible_device_list`."""


class Session:
    """Takes a `ConfigProto`, and applies its options of GPUs. It cannot run anything.

    Without a config it can only be meant to run a graph, and raises NotImplementedError.
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        if config is None or graph is not None or target:
            raise NotImplementedError(f"tf.compat.v1.{type(self).__name__}: {NO_SESSION}")
        apply_options(config)

    def close(self) -> None:
        """Does nothing: there is nothing to close."""

    def run(self, fetches: Any, feed_dict: Any = None, **options: Any) -> NoReturn:
        """Not supported. There are no graphs and sessions; put @tf.function on a Python function, and call it."""
        raise NotImplementedError(f"tf.compat.v1.Session.run: {NO_SESSION}")

    def as_default(self) -> NoReturn:
        """Not supported. There are no graphs and sessions; put @tf.function on a Python function, and call it."""
        raise NotImplementedError(f"tf.compat.v1.Session.as_default: {NO_SESSION}")

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(f"with tf.compat.v1.Session(): {NO_SESSION}")

    def __exit__(self, *error: object) -> None:
        pass


class InteractiveSession(Session):
    """The same as `Session`."""

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        super().__init__(target, graph, config)


def apply_options(config: Any) -> None:
    """Applies the options of GPUs of a `ConfigProto`: memory growth, and `device_count={"GPU": 0}`."""
    gpus = tf_config.list_physical_devices("GPU")
    counts = vars(config).get("device_count") or {}
    number = counts.get("GPU") if isinstance(counts, dict) else vars(counts).get("GPU")
    if number is not None and number < len(gpus):
        tf_config.set_visible_devices(gpus[:number], "GPU")
    options = vars(config).get("gpu_options") or SessionOptions()
    chosen = vars(options)
    if chosen.get("allow_growth") or chosen.get("per_process_gpu_memory_fraction"):
        # JAX takes a fraction from the environment only, before it starts; growth never takes more than is needed.
        for gpu in gpus:
            tf_config.experimental.set_memory_growth(gpu, True)
