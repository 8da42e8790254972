"""Files: TFRecords, the Examples in them, and images."""

from unisono._src.data.files import (
    BytesList, Example, ExampleError, Feature, FeatureList, FeatureLists, Features, FixedLenFeature, FixedLengthFile,
    FloatList, ImageError, Int64List, RecordError, RecordFile, SequenceExample, TextFile, TFRecordOptions,
    TFRecordWriter, VarLenFeature, decode_image, decode_jpeg, decode_png, decode_raw, encode_example, encode_jpeg,
    encode_png, parse_example, parse_single_example, parse_tensor, read_file, serialize_tensor,
)

__all__ = [
    "BytesList", "Example", "ExampleError", "Feature", "FeatureList", "FeatureLists", "Features", "FixedLenFeature",
    "FixedLengthFile", "FloatList", "ImageError", "Int64List", "RecordError", "RecordFile", "SequenceExample",
    "TFRecordOptions", "TFRecordWriter", "TextFile", "VarLenFeature", "decode_image", "decode_jpeg", "decode_png",
    "decode_raw", "encode_example", "encode_jpeg", "encode_png", "parse_example", "parse_single_example",
    "parse_tensor", "read_file", "serialize_tensor",
]
