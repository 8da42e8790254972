"""Reads the folder of a run, and shows it as a page or in a terminal. Knows neither JAX nor Keras."""

from unisono._src.reports._page import make_page
from unisono._src.reports._read_run import RunError, read_run
from unisono._src.reports._run import Attempt, FitRecord, Run
from unisono._src.reports._terminal import describe_in_terminal
from unisono._src.reports._verdict import RunVerdict, judge
