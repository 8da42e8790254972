"""`tf.io`: files, records, images and bytes. All of it runs on the host: in dataset maps, or outside functions."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.io import gfile
from unisono.tf.io._csv import decode_csv
from unisono.tf.io._examples import (
    FixedLenFeature, FixedLenSequenceFeature, VarLenFeature, parse_example, parse_single_example,
)
from unisono.tf.io._files import TFRecordOptions, TFRecordWriter, matching_files, read_file, write_file
from unisono.tf.io._images import (
    decode_and_crop_jpeg, decode_bmp, decode_image, decode_jpeg, decode_png, encode_jpeg, encode_png,
    extract_jpeg_shape, is_jpeg,
)
from unisono.tf.io._ragged_features import RaggedFeature
from unisono.tf.io._tensor_bytes import (
    decode_base64, decode_compressed, decode_raw, encode_base64, parse_tensor, serialize_tensor,
)

__getattr__ = _explain_missing_names("tf.io")
