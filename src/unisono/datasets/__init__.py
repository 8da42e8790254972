"""Datasets for examples, read from disk; nothing is downloaded."""

from unisono.datasets._keras import local_datasets as local_datasets
from unisono.datasets._local import Arrays as Arrays
from unisono.datasets._local import NotFoundHereError as NotFoundHereError
from unisono.datasets._local import read_local as read_local
from unisono.datasets._mnist import fashion_mnist as fashion_mnist
from unisono.datasets._mnist import mnist as mnist
