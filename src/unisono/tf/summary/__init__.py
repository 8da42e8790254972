"""`tf.summary`: event files for TensorBoard, written without TensorFlow."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.summary import experimental
from unisono.tf.summary._defaults import record_if, should_record_summaries
from unisono.tf.summary._file_writer import create_file_writer
from unisono.tf.summary._summaries import audio, histogram, image, scalar, text, write
from unisono.tf.summary._trace import trace_export, trace_off, trace_on
from unisono.tf.summary._writer import SummaryWriter, create_noop_writer, flush

__getattr__ = _explain_missing_names("tf.summary")
