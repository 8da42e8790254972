"""`tf.image`, compared with recorded results of TensorFlow."""

import numpy as np

import unisono.tf as tf
from tests.tf.recording import recorded

PIXELS = np.random.RandomState(0).randint(0, 256, (2, 5, 6, 3)).astype(np.uint8)
FLOATS = PIXELS.astype(np.float32) / 255


@recorded(tolerance=1e-3)
def test_resizing():
    methods = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
    smooth = ["bilinear", "bicubic", "lanczos3"]
    return {
        "larger": {method: tf.image.resize(PIXELS[0], [8, 9], method=method) for method in methods},
        "smaller": {method: tf.image.resize(FLOATS, [3, 4], method=method) for method in methods},
        "antialias": {method: tf.image.resize(FLOATS, [3, 2], method, antialias=True) for method in smooth},
        "same": tf.image.resize(PIXELS[0], [5, 6]),
        "proportions": tf.image.resize(FLOATS[0], [10, 10], preserve_aspect_ratio=True),
        "constant": tf.image.resize(FLOATS[0], [2, 2], tf.image.ResizeMethod.NEAREST_NEIGHBOR),
        "pad": tf.image.resize_with_pad(FLOATS[0], 9, 8),
        "crop or pad": [
            tf.image.resize_with_crop_or_pad(PIXELS[0], 3, 9),
            tf.image.resize_with_crop_or_pad(PIXELS, 8, 3),
        ],
        "boxes": tf.image.crop_and_resize(FLOATS, [[0.0, 0.0, 1.0, 1.0], [0.1, 0.2, 0.7, 1.2]], [0, 1], [3, 4]),
    }


@recorded
def test_crops_and_flips():
    return {
        "crop": tf.image.crop_to_bounding_box(PIXELS[0], 1, 2, 3, 2),
        "pad": tf.image.pad_to_bounding_box(PIXELS[0], 1, 2, 8, 9),
        "central": [tf.image.central_crop(PIXELS[0], 0.5), tf.image.central_crop(PIXELS, 0.7)],
        "flip": [tf.image.flip_left_right(PIXELS[0]), tf.image.flip_up_down(PIXELS)],
        "rotate": [tf.image.rot90(PIXELS[0]), tf.image.rot90(PIXELS[0], k=3), tf.image.transpose(PIXELS)],
        "patches": [
            tf.image.extract_patches(PIXELS.astype(np.int32), [1, 2, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
            tf.image.extract_patches(PIXELS.astype(np.int32), [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
        ],
    }


@recorded(tolerance=1e-4)
def test_colors():
    return {
        "grey": [tf.image.rgb_to_grayscale(PIXELS), tf.image.rgb_to_grayscale(FLOATS)],
        "three": tf.image.grayscale_to_rgb(tf.constant(PIXELS[..., :1])),
        "hsv": [tf.image.rgb_to_hsv(FLOATS), tf.image.hsv_to_rgb(FLOATS)],
        "yuv": [tf.image.rgb_to_yuv(FLOATS), tf.image.yuv_to_rgb(FLOATS)],
        "yiq": [tf.image.rgb_to_yiq(FLOATS), tf.image.yiq_to_rgb(FLOATS)],
        "brightness": [tf.image.adjust_brightness(FLOATS, 0.2), tf.image.adjust_brightness(PIXELS, 0.2)],
        "contrast": tf.image.adjust_contrast(FLOATS, 2.0),
        "gamma": tf.image.adjust_gamma(FLOATS, 2.0, 0.5),
        "saturation": tf.image.adjust_saturation(FLOATS, 0.5),
        "hue": tf.image.adjust_hue(FLOATS, 0.2),
        "dtypes": [
            tf.image.convert_image_dtype(PIXELS, tf.float32),
            tf.image.convert_image_dtype(FLOATS, tf.uint8),
            tf.image.convert_image_dtype(FLOATS * 1.5, tf.uint8, saturate=True),
            tf.image.convert_image_dtype(PIXELS, tf.int32),
        ],
        "standard": tf.image.per_image_standardization(PIXELS),
    }


@recorded(tolerance=1e-4)
def test_metrics_and_gradients():
    other = FLOATS[:, ::-1]
    large, larger = (
        np.kron(FLOATS, np.ones((1, 3, 3, 1), np.float32)),
        np.kron(other, np.ones((1, 3, 3, 1), np.float32)),
    )
    boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0], [0.0, 0.5, 1.0, 1.5]]
    return {
        "psnr": [tf.image.psnr(FLOATS, other, 1.0), tf.image.psnr(PIXELS, PIXELS // 2, 255)],
        "ssim": tf.image.ssim(large, larger, 1.0),
        "variation": tf.image.total_variation(tf.constant(FLOATS)),
        "gradients": list(tf.image.image_gradients(tf.constant(FLOATS))),
        "edges": tf.image.sobel_edges(tf.constant(FLOATS)),
        "boxes": tf.image.non_max_suppression(boxes, [0.9, 0.8, 0.7, 0.6], 3, iou_threshold=0.5),
    }


@recorded
def test_codecs():
    png = tf.image.encode_png(PIXELS[0])
    jpeg = tf.image.encode_jpeg(np.full((8, 8, 3), 77, np.uint8), quality=90)
    return {
        "png": tf.image.decode_png(png),
        "grey": tf.image.decode_png(tf.image.encode_png(PIXELS[0, :, :, :1]), channels=3),
        "image": tf.image.decode_image(png, dtype=tf.float32),
        "jpeg": tf.image.decode_jpeg(jpeg, channels=3),
        "part": tf.image.decode_and_crop_jpeg(jpeg, [0, 0, 8, 8], channels=1),
        "is": [bool(tf.io.is_jpeg(jpeg)), bool(tf.io.is_jpeg(png))],
        "the same": bool(tf.image.is_jpeg(jpeg)),
        "shape": tf.image.extract_jpeg_shape(jpeg),
        "quality": tf.image.adjust_jpeg_quality(np.full((8, 8, 3), 77, np.uint8), 90),
    }
