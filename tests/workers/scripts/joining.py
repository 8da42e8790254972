"""Joins with a time limit, given as argument."""

import sys

import unisono

options = unisono.CommunicationOptions(timeout_seconds=float(sys.argv[1]))
unisono.MultiWorkerMirroredStrategy(communication_options=options)
