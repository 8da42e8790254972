"""Puts the hooks into Keras. Runs once, when this module is imported."""

from unisono.seams import own_variables, route_trainer, seed_maps
from unisono.train import METHODS

own_variables()
seed_maps()
route_trainer(METHODS)
