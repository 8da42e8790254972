"""`tf.image`: decoding, resizing, cropping, colors and augmentation of images."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.image._bounding_boxes import draw_bounding_boxes
from unisono.tf.image._colors import (
    adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_jpeg_quality, adjust_saturation,
    grayscale_to_rgb, hsv_to_rgb, per_image_standardization, rgb_to_grayscale, rgb_to_hsv, rgb_to_yiq, rgb_to_yuv,
    yiq_to_rgb, yuv_to_rgb,
)
from unisono.tf.image._crop_pad_flip import (
    central_crop, crop_to_bounding_box, extract_patches, flip_left_right, flip_up_down, pad_to_bounding_box,
    resize_with_crop_or_pad, rot90, transpose,
)
from unisono.tf.image._distorted_boxes import (
    sample_distorted_bounding_box, stateless_sample_distorted_bounding_box,
)
from unisono.tf.image._metrics_and_gradients import image_gradients, psnr, sobel_edges, ssim, total_variation
from unisono.tf.image._non_max_suppression import (
    combined_non_max_suppression, non_max_suppression, non_max_suppression_overlaps, non_max_suppression_padded,
    non_max_suppression_with_scores,
)
from unisono.tf.image._pixel_values import convert_image_dtype
from unisono.tf.image._random import (
    random_brightness, random_contrast, random_crop, random_flip_left_right, random_flip_up_down, random_hue,
    random_jpeg_quality, random_saturation, stateless_random_brightness, stateless_random_contrast,
    stateless_random_crop, stateless_random_flip_left_right, stateless_random_flip_up_down, stateless_random_hue,
    stateless_random_saturation,
)
from unisono.tf.image._resize import ResizeMethod, crop_and_resize, resize, resize_with_pad
from unisono.tf.io._images import (
    decode_and_crop_jpeg, decode_bmp, decode_image, decode_jpeg, decode_png, encode_jpeg, encode_png,
    extract_jpeg_shape, is_jpeg,
)

__getattr__ = _explain_missing_names("tf.image")
