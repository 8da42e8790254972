"""`tf.summary`: event files for TensorBoard, written without TensorFlow."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.summary import experimental as experimental
from unisono.tf.summary._defaults import record_if as record_if
from unisono.tf.summary._defaults import should_record_summaries as should_record_summaries
from unisono.tf.summary._file_writer import create_file_writer as create_file_writer
from unisono.tf.summary._summaries import audio as audio
from unisono.tf.summary._summaries import histogram as histogram
from unisono.tf.summary._summaries import image as image
from unisono.tf.summary._summaries import scalar as scalar
from unisono.tf.summary._summaries import text as text
from unisono.tf.summary._summaries import write as write
from unisono.tf.summary._trace import trace_export as trace_export
from unisono.tf.summary._trace import trace_off as trace_off
from unisono.tf.summary._trace import trace_on as trace_on
from unisono.tf.summary._writer import SummaryWriter as SummaryWriter
from unisono.tf.summary._writer import create_noop_writer as create_noop_writer
from unisono.tf.summary._writer import flush as flush

__getattr__ = _missing_in("tf.summary")
