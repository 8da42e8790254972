"""The only places that touch what is private in Keras. One file per hook; each names what it was checked against."""

from unisono.seams import _backend as _backend
from unisono.seams._build import build_for_prediction as build_for_prediction
from unisono.seams._build import build_for_training as build_for_training
from unisono.seams._build import check_compiled as check_compiled
from unisono.seams._build import check_step_functions as check_step_functions
from unisono.seams._build import finish_optimizer as finish_optimizer
from unisono.seams._build import first_epoch as first_epoch
from unisono.seams._build import logs_in_order as logs_in_order
from unisono.seams._build import validates_after as validates_after
from unisono.seams._callbacks import callback_list as callback_list
from unisono.seams._callbacks import closing as closing
from unisono.seams._callbacks import last_steps_asked_for as last_steps_asked_for
from unisono.seams._callbacks import pythonify as pythonify
from unisono.seams._callbacks import wants_every_batch as wants_every_batch
from unisono.seams._data import ArrayInput as ArrayInput
from unisono.seams._data import StreamInput as StreamInput
from unisono.seams._data import adapt as adapt
from unisono.seams._data import class_weights as class_weights
from unisono.seams._data import split_for_validation as split_for_validation
from unisono.seams._data import unpack as unpack
from unisono.seams._lowerings import lowered_for as lowered_for
from unisono.seams._trainer import Methods as Methods
from unisono.seams._trainer import owner_of as owner_of
from unisono.seams._trainer import route_trainer as route_trainer
from unisono.seams._variables import adopt as adopt
from unisono.seams._variables import own_variables as own_variables
