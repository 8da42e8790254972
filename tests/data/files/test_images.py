"""Images in and out. `RESIZED`, the PNG and the JPEG below are answers of TensorFlow 2.21."""

import contextlib
import io
import re
import sys
import threading

import numpy as np
import pytest
from PIL import Image, ImageFile

from unisono._src.data.files import _images
from unisono._src.data.files._resize import resize
from unisono.io import ImageError, decode_image, decode_jpeg, decode_png, encode_jpeg, encode_png, read_file
from unisono_launch._install_command import install_command

PHOTO = np.random.default_rng(0).integers(0, 256, (9, 7, 3), dtype=np.uint8).repeat(8, 0).repeat(8, 1)

# tf.io.encode_jpeg of rows 0, 30, 60, ...; decode_jpeg(dct_method="INTEGER_ACCURATE"), which is what Pillow does too
JPEG_PIXELS = [0, 30, 60, 90, 120, 151, 180, 210]
# tf.io.encode_png of [[0, 255], [256, 65535]], uint16; decode_png gives the upper 8 bits
PNG_16_BITS = (
    "89504e470d0a1a0a0000000d4948445200000002000000021000000000074d8ebb0000001249444154089963606060f8cfc4c8f09f01"
    "0008100202ec8c8f440000000049454e44ae426082"
)


def saved(image: Image.Image, file_format: str, **options) -> bytes:
    file = io.BytesIO()
    image.save(file, file_format, **options)
    return file.getvalue()


def photo(mode: str) -> Image.Image:
    return Image.fromarray(PHOTO).convert(mode)


# read_file


@pytest.mark.parametrize("kind", [str, lambda path: str(path).encode(), lambda path: path, np.array])
def test_a_file_is_read_by_any_kind_of_name(tmp_path, kind):
    path = tmp_path / "ünï.bin"
    path.write_bytes(b"a\0\0")
    name = kind(str(path)) if kind is np.array else kind(path)
    contents = read_file(name)
    assert contents.shape == ()
    assert contents.dtype == object
    assert contents.item() == b"a\0\0"


def test_names_in_object_arrays_are_read_too(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"1")
    assert read_file(np.array([str(path).encode()], object)[0, ...]).item() == b"1"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nothing\.jpg'.*Check the name"):
        read_file(tmp_path / "nothing.jpg")


@pytest.mark.parametrize("name", [3, None, np.array(["a", "b"])])
def test_what_is_not_one_name_is_refused(name):
    with pytest.raises(TypeError, match="expected the name of one file"):
        read_file(name)


# decoding


@pytest.mark.parametrize("channels", [0, 1, 3, 4])
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"subsampling": 0}, {"quality": 30}, {"comment": b"x"}])
def test_a_jpeg_has_the_pixels_that_pillow_gives(mode, channels, options):
    data = saved(photo(mode), "JPEG", **options)
    opened = Image.open(io.BytesIO(data))
    if channels == 1 and mode == "RGB":
        opened.draft("L", opened.size)  # the file's own luminance, as in TensorFlow
    wanted = {0: "L" if mode == "L" else "RGB", 1: "L", 3: "RGB", 4: "RGBA"}[channels]
    expected = np.asarray(opened.convert(wanted)).reshape(72, 56, -1)
    decoded = decode_jpeg(data, channels=channels)
    assert decoded.dtype == np.uint8
    np.testing.assert_array_equal(decoded, expected)


def test_a_jpeg_with_a_thumbnail_and_a_profile_is_decoded_whole():
    exif = Image.Exif()
    exif[0x0112] = 6  # turned: not looked at, as in TensorFlow
    data = saved(photo("RGB"), "JPEG", exif=exif, icc_profile=b"p" * 70_000)
    np.testing.assert_array_equal(decode_jpeg(data), np.asarray(Image.open(io.BytesIO(data))))


def test_a_jpeg_of_tensorflow_gives_its_pixels():
    rows = np.tile((np.arange(8) * 30).astype(np.uint8)[:, None, None], (1, 8, 3))
    assert decode_jpeg(encode_jpeg(rows))[:, 0, 0].tolist() == JPEG_PIXELS


@pytest.mark.parametrize(
    ("mode", "num_channels"), [("1", 1), ("L", 1), ("LA", 2), ("P", 3), ("RGB", 3), ("RGBA", 4), ("I;16", 1)]
)
def test_a_png_has_the_channels_that_it_was_stored_with(mode, num_channels):
    data = saved(photo("L").convert("I;16") if mode == "I;16" else photo(mode), "PNG")
    assert decode_png(data).shape == (72, 56, num_channels)
    for channels in (1, 3, 4):
        assert decode_png(data, channels=channels).shape == (72, 56, channels)


def test_sixteen_bits_become_the_upper_eight():
    assert decode_png(bytes.fromhex(PNG_16_BITS))[..., 0].tolist() == [[0, 0], [1, 255]]


def test_grey_of_a_png_is_what_tensorflow_makes_of_it():
    data = encode_png(np.array([[[10, 20, 30], [200, 100, 50]], [[255, 0, 0], [0, 0, 255]]], np.uint8))
    assert decode_png(data, channels=1)[..., 0].tolist() == [[18, 124], [76, 29]]
    assert decode_png(data, channels=4)[0, 0].tolist() == [10, 20, 30, 255]


def test_a_palette_with_transparency_becomes_rgba():
    data = saved(photo("P"), "PNG", transparency=b"\0" * 10)
    assert decode_png(data).shape == (72, 56, 4)
    assert decode_png(data, channels=3).shape == (72, 56, 3)


def test_of_an_animation_the_first_frame_is_taken():
    frames = [Image.new("RGB", (4, 3), color) for color in ("red", "blue")]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert decode_image(data).shape == (3, 4, 3)
    assert decode_image(data)[0, 0].tolist() == [255, 0, 0]


def test_a_grey_gif_has_three_channels_as_in_tensorflow():
    assert decode_image(saved(photo("L"), "GIF")).shape == (72, 56, 3)


def test_a_bitmap_is_an_image_too():
    np.testing.assert_array_equal(decode_image(saved(photo("RGB"), "BMP")), PHOTO)


def test_contents_may_be_what_a_dataset_hands_on(tmp_path):
    (tmp_path / "x.png").write_bytes(encode_png(PHOTO))
    np.testing.assert_array_equal(decode_image(read_file(tmp_path / "x.png")), PHOTO)


def test_threads_may_decode_at_once():
    data = [encode_jpeg(PHOTO, quality) for quality in range(50, 90)]
    expected = [decode_jpeg(each) for each in data]
    wrong = []

    def work() -> None:
        wrong.extend(i for i, each in enumerate(data) if not np.array_equal(decode_jpeg(each), expected[i]))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# damage


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "GIF", "BMP"])
def test_an_image_that_is_cut_off_anywhere_is_an_error_and_never_a_grey_half(file_format):
    data = saved(photo("RGB"), file_format)
    whole = decode_image(data)
    for size in (*range(60), *range(60, len(data) - 2, max(1, len(data) // 50))):
        try:
            decoded = decode_image(data[:size])
        except ImageError as error:
            assert f"{size} bytes" in str(error)  # noqa: PT017
        else:
            np.testing.assert_array_equal(decoded, whole)  # all pixels were there: only what follows them is missing


def test_the_error_says_how_long_it_is_and_what_pillow_said():
    data = encode_jpeg(PHOTO)[:1000]
    with pytest.raises(ImageError, match=r"1000 bytes.*Pillow says: .*truncated.*fetch the file again"):
        decode_jpeg(data)


def test_what_is_no_image_is_said_to_be_none():
    with pytest.raises(ImageError, match=r"21 bytes that begin with b'<!doctyp' are not an image.*a web page"):
        decode_image(b"<!doctype html><html>")


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "GIF", "BMP"])
def test_random_damage_gives_pixels_or_an_image_error(file_format):
    data = saved(photo("RGB"), file_format)
    random = np.random.default_rng(1)
    for _ in range(150):
        damaged = bytearray(data)
        for position in random.integers(0, min(len(data), 700), 3):
            damaged[position] = random.integers(0, 256)
        with contextlib.suppress(ImageError):
            assert decode_image(bytes(damaged)).ndim == 3


def test_nothing_enables_pillow_s_loading_of_truncated_images():
    assert ImageFile.LOAD_TRUNCATED_IMAGES is False


@pytest.mark.parametrize("channels", [2, 5, -1, "rgb", None])
def test_a_wrong_number_of_channels_is_refused(channels):
    with pytest.raises(ValueError, match=r"channels is .*Expected 1 for grey"):
        decode_image(encode_png(PHOTO), channels=channels)


@pytest.mark.parametrize("contents", ["a.jpg", 3, np.zeros((2, 2)), np.array([b"a", b"b"], object)])
def test_what_is_not_bytes_is_refused(contents):
    with pytest.raises(TypeError, match=r"expected the bytes of one image, got .*decode_image\(read_file\(path\)\)"):
        decode_image(contents)


# encoding


@pytest.mark.parametrize("num_channels", [1, 2, 3, 4])
def test_png_loses_nothing(num_channels):
    image = np.random.default_rng(2).integers(0, 256, (5, 6, num_channels), dtype=np.uint8)
    np.testing.assert_array_equal(decode_png(encode_png(image)), image)


def test_a_view_is_encoded_like_its_copy():
    assert encode_png(PHOTO[::-1, :, ::-1]) == encode_png(PHOTO[::-1, :, ::-1].copy())


def test_more_quality_is_more_bytes_and_closer():
    low, high = encode_jpeg(PHOTO, quality=20), encode_jpeg(PHOTO)
    assert len(low) < len(high)
    assert np.abs(decode_jpeg(low) - PHOTO.astype(int)).mean() > np.abs(decode_jpeg(high) - PHOTO.astype(int)).mean()


@pytest.mark.parametrize(
    ("function", "image"),
    [
        (encode_jpeg, PHOTO / 255),
        (encode_jpeg, PHOTO[0]),
        (encode_jpeg, np.zeros((2, 2, 4), np.uint8)),
        (encode_png, np.zeros((2, 2, 5), np.uint8)),
        (encode_png, np.zeros((0, 2, 3), np.uint8)),
    ],
)
def test_what_is_not_an_image_is_not_encoded(function, image):
    with pytest.raises(ValueError, match=r"expected uint8 of shape \(height, width, channels\)"):
        function(image)


def test_a_wrong_quality_is_refused():
    with pytest.raises(ValueError, match=r"quality is 101\. Expected 0 to 100"):
        encode_jpeg(PHOTO, quality=101)


# the codecs


@pytest.mark.parametrize(("name", "contents"), [("PIL", b"GIF89a"), ("simplejpeg", encode_jpeg(PHOTO))])
def test_without_a_codec_the_error_says_what_to_type(monkeypatch, name, contents):
    codecs = (_images.pillow, _images.simplejpeg)
    for codec in codecs:
        codec.cache_clear()
    with monkeypatch.context() as patch:
        for module in [module for module in sys.modules if module.partition(".")[0] == name]:
            patch.delitem(sys.modules, module)
        patch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=re.escape(install_command("images"))):
            decode_image(contents)
    for codec in codecs:
        codec.cache_clear()


# resizing: tf.image.resize of this image to (2, 3) and to (4, 5)

SMALL = (np.arange(12) * 37 % 256).astype(np.uint8).reshape(3, 4, 1)
RESIZED = {
    "bilinear": (
        [[43.1667, 92.5, 88.5], [73.1667, 122.5, 118.5]],
        [
            [0.0, 25.9, 55.5, 85.1, 111.0],
            [92.5, 118.4, 148.0, 129.6, 43.5],
            [107.5, 133.4, 163.0, 144.6, 58.5],
            [40.0, 65.9, 95.5, 125.1, 151.0],
        ],
    ),
    "nearest": (
        [[0.0, 74.0, 111.0], [40.0, 114.0, 151.0]],
        [
            [0.0, 37.0, 74.0, 74.0, 111.0],
            [148.0, 185.0, 222.0, 222.0, 3.0],
            [148.0, 185.0, 222.0, 222.0, 3.0],
            [40.0, 77.0, 114.0, 114.0, 151.0],
        ],
    ),
    "bicubic": (
        [[34.2666, 89.3394, 89.6297], [67.5512, 122.6241, 122.9143]],
        [
            [-9.3269, 16.2567, 46.9328, 83.0307, 118.8141],
            [98.7412, 124.3248, 166.9874, 137.3185, 26.8289],
            [116.4774, 142.061, 184.7236, 155.0547, 44.5651],
            [32.7626, 58.3463, 89.0224, 125.1203, 160.9036],
        ],
    ),
    "area": (
        [[58.5833, 104.8333, 87.0833], [85.25, 131.5, 113.75]],
        [
            [0.0, 27.75, 55.5, 83.25, 111.0],
            [98.6667, 126.4167, 154.1667, 139.25, 39.0],
            [112.0, 139.75, 167.5, 152.5833, 52.3333],
            [40.0, 67.75, 95.5, 123.25, 151.0],
        ],
    ),
    "lanczos3": (
        [[37.1028, 98.6663, 86.1732], [72.1742, 133.7377, 121.2446]],
        [
            [-14.4041, 10.3493, 39.1262, 82.9733, 124.8483],
            [100.2094, 118.8673, 183.6641, 131.7804, 17.8751],
            [122.3947, 141.0526, 205.8494, 153.9657, 40.0604],
            [27.5376, 52.291, 81.0679, 124.915, 166.79],
        ],
    ),
    "lanczos5": (
        [[38.4132, 105.2471, 82.6495], [75.4294, 142.2633, 119.6656]],
        [
            [-17.0916, 12.0272, 35.5413, 81.3171, 128.8472],
            [103.362, 113.8105, 197.0704, 128.295, 13.0046],
            [128.0655, 138.514, 221.7739, 152.9984, 37.7081],
            [23.6068, 52.7256, 76.2397, 122.0155, 169.5456],
        ],
    ),
    "gaussian": (
        [[47.5218, 95.3033, 88.5983], [76.7642, 124.5457, 117.8406]],
        [
            [14.3044, 38.082, 66.727, 89.5161, 101.3451],
            [94.2397, 118.0173, 146.6623, 128.1428, 55.6843],
            [108.3247, 132.1023, 160.7473, 142.2278, 69.7693],
            [51.2701, 75.0477, 103.6927, 126.4818, 138.3108],
        ],
    ),
    "mitchellcubic": (
        [[42.3455, 94.1787, 88.1824], [73.4905, 125.3238, 119.3275]],
        [
            [1.4748, 25.6064, 56.4641, 86.7357, 109.795],
            [95.6828, 119.8144, 156.4127, 130.8243, 41.1976],
            [112.3526, 136.4842, 173.0826, 147.4942, 57.8674],
            [41.229, 65.3606, 96.2183, 126.4899, 149.5492],
        ],
    ),
}


@pytest.mark.parametrize("method", RESIZED)
@pytest.mark.parametrize("which", [0, 1])
def test_resizing_agrees_with_tensorflow(method, which):
    expected = np.array(RESIZED[method][which])
    result = resize(SMALL, expected.shape, method)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result[..., 0], expected, atol=1e-3)


@pytest.mark.parametrize("method", RESIZED)
def test_channels_are_resized_each_for_itself(method):
    together = resize(PHOTO, (31, 90), method)
    apart = [resize(PHOTO[..., [channel]], (31, 90), method) for channel in range(3)]
    np.testing.assert_array_equal(together, np.concatenate(apart, axis=-1))


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5"])
def test_the_same_size_is_the_same_image(method):
    np.testing.assert_allclose(resize(PHOTO, PHOTO.shape[:2], method), PHOTO, atol=1e-4)


def test_a_large_image_is_resized_in_strips_without_a_visible_border():
    ramp = np.broadcast_to(np.arange(256, dtype=np.uint8)[:, None, None], (256, 3000, 3))
    result = resize(np.ascontiguousarray(ramp), (256, 10))
    np.testing.assert_array_equal(result[:, 0, 0], np.arange(256))


def test_results_are_not_overwritten_by_later_ones():
    first = resize(PHOTO, (20, 20))
    kept = first.copy()
    resize(255 - PHOTO, (20, 20))
    np.testing.assert_array_equal(first, kept)


def test_sizes_and_methods_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match=r"method is 'cubic'\. Expected one of bilinear"):
        resize(SMALL, (2, 2), "cubic")
    with pytest.raises(ValueError, match=r"shape \(3, 4, 1\) cannot have size \(0, 2\)"):
        resize(SMALL, (0, 2))
