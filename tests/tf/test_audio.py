"""`tf.audio`, and datasets of folders of WAV files."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

import unisono.tf as tf

RATE = 8000


def _write(path: Path, samples: int, channels: int = 1, rate: int = RATE) -> np.ndarray:
    path.parent.mkdir(parents=True, exist_ok=True)
    values = (np.sin(np.arange(samples * channels) / 9) * 20_000).astype("int16").reshape(samples, channels)
    wavfile.write(path, rate, values)
    return values / np.float32(32768)


def test_files_that_others_write_are_read_and_the_other_way_round(tmp_path: Path) -> None:
    values = _write(tmp_path / "a.wav", 50, 2)
    audio, rate = tf.audio.decode_wav(tf.io.read_file(str(tmp_path / "a.wav")))
    assert (audio.shape, int(rate), audio.dtype) == ((50, 2), RATE, tf.float32)
    np.testing.assert_array_equal(audio, values)
    tf.io.write_file(str(tmp_path / "b.wav"), tf.audio.encode_wav(values, rate))
    found_rate, found = wavfile.read(tmp_path / "b.wav")
    assert found_rate == RATE
    np.testing.assert_array_equal(found / np.float32(32768), values)


def test_channels_and_samples_can_be_chosen(tmp_path: Path) -> None:
    values = _write(tmp_path / "a.wav", 5, 2)
    data = (tmp_path / "a.wav").read_bytes()
    np.testing.assert_array_equal(tf.audio.decode_wav(data, desired_channels=1).audio, values[:, :1])
    np.testing.assert_array_equal(tf.audio.decode_wav(data, 3).audio, values[:, [0, 1, 1]])
    np.testing.assert_array_equal(tf.audio.decode_wav(data, desired_samples=2).audio, values[:2])
    np.testing.assert_array_equal(tf.audio.decode_wav(data, desired_samples=7).audio[5:], np.zeros((2, 2)))
    loud = tf.audio.decode_wav(tf.audio.encode_wav([[2.0], [-2.0]], RATE)).audio
    np.testing.assert_allclose(loud, [[32767 / 32768], [-1]])


def test_what_is_no_wav_file_is_an_error(tmp_path: Path) -> None:
    wavfile.write(tmp_path / "wide.wav", RATE, np.zeros(4, "int32"))
    for data, text in ((b"RIFF", "no WAV file"), ((tmp_path / "wide.wav").read_bytes(), "Expected 16")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"tf\.audio\.decode_wav: .*{text}"):
            tf.audio.decode_wav(data)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \(samples, channels\)"):
        tf.audio.encode_wav([0.5], RATE)


@pytest.mark.full
def test_a_folder_of_files_is_a_dataset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = _write(tmp_path / "no" / "1.wav", 30)
    second = _write(tmp_path / "yes" / "1.wav", 20)
    dataset = tf.keras.utils.audio_dataset_from_directory(tmp_path, shuffle=False)
    assert "Found 2 files belonging to 2 classes." in capsys.readouterr().out
    assert dataset.class_names == ["no", "yes"]
    ((audio, labels),) = dataset
    assert audio.shape == (2, 30, 1)
    assert labels.tolist() == [0, 1]
    np.testing.assert_array_equal(audio[0], first)
    np.testing.assert_array_equal(audio[1, :20], second)
    assert not np.any(audio[1, 20:])
    short = tf.keras.utils.audio_dataset_from_directory(
        tmp_path, None, batch_size=None, output_sequence_length=25, shuffle=False, verbose=False
    )
    assert [each.shape for each in short] == [(25, 1), (25, 1)]
    slow = tf.keras.utils.audio_dataset_from_directory(
        tmp_path, label_mode=None, sampling_rate=RATE // 2, shuffle=False, verbose=False
    )
    assert next(iter(slow)).shape == (2, 15, 1)
    training, validation = tf.keras.utils.audio_dataset_from_directory(
        tmp_path, validation_split=0.5, subset="both", seed=1, verbose=False
    )
    assert len(training.file_paths) == len(validation.file_paths) == 1
    with pytest.raises(ValueError, match="ragged=True is not supported"):
        tf.keras.utils.audio_dataset_from_directory(tmp_path, ragged=True)
    with pytest.raises(ValueError, match="sampling_rate is 0"):
        tf.keras.utils.audio_dataset_from_directory(tmp_path, sampling_rate=0)
