"""Puts the hooks into Keras. Runs once, when this module is imported."""

from unisono.seams import own_variables, route_trainer
from unisono.train import METHODS

own_variables()
route_trainer(METHODS)
