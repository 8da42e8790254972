"""`tensorflow._api.v2`: what editors import instead of `tensorflow`, when they add an import by themselves."""

from unisono.tf._private_modules import add_private_modules as _add_private_modules

__path__: list[str] = []  # a package: Python looks for modules in it

_add_private_modules(__name__, {"v1": "tf.compat.v1", "v2": "tf", "v2.v2": "tf"})
