"""`tf.io.gfile`: files and folders of this machine."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.io._folders import copy as copy
from unisono.tf.io._folders import exists as exists
from unisono.tf.io._folders import get_registered_schemes as get_registered_schemes
from unisono.tf.io._folders import glob as glob
from unisono.tf.io._folders import isdir as isdir
from unisono.tf.io._folders import join as join
from unisono.tf.io._folders import listdir as listdir
from unisono.tf.io._folders import makedirs as makedirs
from unisono.tf.io._folders import mkdir as mkdir
from unisono.tf.io._folders import remove as remove
from unisono.tf.io._folders import rename as rename
from unisono.tf.io._folders import rmtree as rmtree
from unisono.tf.io._folders import stat as stat
from unisono.tf.io._folders import walk as walk
from unisono.tf.io._gfile import GFile as GFile

__getattr__ = _missing_in("tf.io.gfile")
