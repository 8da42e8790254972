"""`tf.dtypes`: the dtypes, and `cast`."""

from unisono.tf._array_ops import cast as cast
from unisono.tf._array_ops import saturate_cast as saturate_cast
from unisono.tf._dtypes import DType as DType
from unisono.tf._dtypes import as_dtype as as_dtype
from unisono.tf._dtypes import bfloat16 as bfloat16
from unisono.tf._dtypes import bool_ as bool  # noqa: F401
from unisono.tf._dtypes import complex64 as complex64
from unisono.tf._dtypes import complex128 as complex128
from unisono.tf._dtypes import double as double
from unisono.tf._dtypes import float16 as float16
from unisono.tf._dtypes import float32 as float32
from unisono.tf._dtypes import float64 as float64
from unisono.tf._dtypes import half as half
from unisono.tf._dtypes import int8 as int8
from unisono.tf._dtypes import int16 as int16
from unisono.tf._dtypes import int32 as int32
from unisono.tf._dtypes import int64 as int64
from unisono.tf._dtypes import string as string
from unisono.tf._dtypes import uint8 as uint8
from unisono.tf._dtypes import uint16 as uint16
from unisono.tf._dtypes import uint32 as uint32
from unisono.tf._dtypes import uint64 as uint64
from unisono.tf._missing import missing_in
from unisono.tf.math._special import complex as complex

__getattr__ = missing_in("tf.dtypes")
