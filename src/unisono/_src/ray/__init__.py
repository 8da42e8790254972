"""Ray Train with Unisono's strategies in its workers. Imports Ray, so nothing imports it unless asked to."""

from unisono._src.ray._report_callback import ReportCallback
from unisono._src.ray._trainer import Trainer
