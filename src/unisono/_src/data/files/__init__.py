"""Files: TFRecords, the Examples in them, images, TensorBoard's events. NumPy and protobuf; no JAX, no Keras."""

from unisono._src.data.files._encode import encode_example
from unisono._src.data.files._example import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)
from unisono._src.data.files._features import FixedLenFeature, VarLenFeature
from unisono._src.data.files._fixed_length import FixedLengthFile
from unisono._src.data.files._framing import RecordError
from unisono._src.data.files._images import (
    ImageError,
    decode_16_bits,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
    read_file,
)
from unisono._src.data.files._parse import decode_raw, parse_example, parse_single_example
from unisono._src.data.files._record_writer import TFRecordOptions, TFRecordWriter
from unisono._src.data.files._records import RecordFile
from unisono._src.data.files._resize import RESIZE_METHODS, interpolation_taps, resize
from unisono._src.data.files._tensor_proto import make_tensor_proto, parse_tensor, serialize_tensor
from unisono._src.data.files._tensorboard_events import (
    encode_event,
    encode_restart_event,
    encode_version_event,
    make_plugin_metadata,
    make_tensor_summary,
    message_class,
)
from unisono._src.data.files._text import TextFile
from unisono._src.data.files._values import bytes_scalar
from unisono._src.data.files._wav import WavError, decode_wav, encode_wav
from unisono._src.data.files._wire import ExampleError
