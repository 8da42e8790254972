"""`tf.io`: files, records, images and bytes. It all happens on the host: in maps of datasets, or outside functions."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.io import gfile as gfile
from unisono.tf.io._csv import decode_csv as decode_csv
from unisono.tf.io._examples import FixedLenFeature as FixedLenFeature
from unisono.tf.io._examples import FixedLenSequenceFeature as FixedLenSequenceFeature
from unisono.tf.io._examples import VarLenFeature as VarLenFeature
from unisono.tf.io._examples import parse_example as parse_example
from unisono.tf.io._examples import parse_single_example as parse_single_example
from unisono.tf.io._files import TFRecordOptions as TFRecordOptions
from unisono.tf.io._files import TFRecordWriter as TFRecordWriter
from unisono.tf.io._files import matching_files as matching_files
from unisono.tf.io._files import read_file as read_file
from unisono.tf.io._files import write_file as write_file
from unisono.tf.io._images import decode_and_crop_jpeg as decode_and_crop_jpeg
from unisono.tf.io._images import decode_bmp as decode_bmp
from unisono.tf.io._images import decode_image as decode_image
from unisono.tf.io._images import decode_jpeg as decode_jpeg
from unisono.tf.io._images import decode_png as decode_png
from unisono.tf.io._images import encode_jpeg as encode_jpeg
from unisono.tf.io._images import encode_png as encode_png
from unisono.tf.io._images import extract_jpeg_shape as extract_jpeg_shape
from unisono.tf.io._images import is_jpeg as is_jpeg
from unisono.tf.io._tensor_bytes import decode_base64 as decode_base64
from unisono.tf.io._tensor_bytes import decode_compressed as decode_compressed
from unisono.tf.io._tensor_bytes import decode_raw as decode_raw
from unisono.tf.io._tensor_bytes import encode_base64 as encode_base64
from unisono.tf.io._tensor_bytes import parse_tensor as parse_tensor
from unisono.tf.io._tensor_bytes import serialize_tensor as serialize_tensor

__getattr__ = _missing_in("tf.io")
