"""`tf.keras.optimizers.legacy`: the optimizers of Keras, by the names that they had there."""

from keras.optimizers import SGD as SGD
from keras.optimizers import Adadelta as Adadelta
from keras.optimizers import Adagrad as Adagrad
from keras.optimizers import Adam as Adam
from keras.optimizers import Adamax as Adamax
from keras.optimizers import Ftrl as Ftrl
from keras.optimizers import Nadam as Nadam
from keras.optimizers import Optimizer as Optimizer
from keras.optimizers import RMSprop as RMSprop

from unisono.tf._missing import missing_in

__getattr__ = missing_in("tf.keras.optimizers.legacy")
