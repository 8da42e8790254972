"""What the texts of splits select."""

import pytest

from unisono.tfds._splits import parse_split

SIZES = {"train": 1050, "test": 30}


@pytest.mark.parametrize(
    ("split", "rows"),
    [
        ("train", [("train", 0, 1050)]),
        ("train[:]", [("train", 0, 1050)]),
        ("train[100:200]", [("train", 100, 200)]),
        ("train[1_000:]", [("train", 1000, 1050)]),
        ("train[:-50]", [("train", 0, 1000)]),
        ("train[-50:]", [("train", 1000, 1050)]),
        ("train[:80%]", [("train", 0, 840)]),
        ("train[-80%:]", [("train", 210, 1050)]),
        ("train[10%:20%]", [("train", 105, 210)]),
        ("train[10:20%]", [("train", 105, 210)]),
        ("train[:0.5%]", [("train", 0, 5)]),
        ("train[:33%]", [("train", 0, 346)]),  # 346.5: to the even number, as TensorFlow Datasets rounds
        ("train+test", [("train", 0, 1050), ("test", 0, 30)]),
        ("train[:10%] + train[-80%:]", [("train", 0, 105), ("train", 210, 1050)]),
        ("all", [("train", 0, 1050), ("test", 0, 30)]),
    ],
)
def test_rows_are_those_that_tensorflow_datasets_counts(split: str, rows: list[tuple[str, int, int]]) -> None:
    assert [(name, part.start, part.stop) for name, part in parse_split(split, SIZES)] == rows


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("validation", "There is no split 'validation'. The dataset has 'train', 'test', and 'all'."),
        ("train[5]", r"The split 'train\[5\]' cannot be parsed. Write its name, followed by rows or percent"),
        ("train[a:b]", "cannot be parsed"),
        ("train[1:2:3]", "cannot be parsed"),
        ("train[0.5:]", "cannot be parsed"),
        ("all[:10%]", "There is no split 'all'"),
        ("train[:4shard]", "asks for shards, which are not supported"),
        ("train[:2000]", "asks for row 2000 of 1050"),
        ("train[:-120%]", "asks for row -1260 of 1050"),
        ("", "The split '' cannot be parsed"),
    ],
)
def test_what_cannot_be_read_is_said(split: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_split(split, SIZES)
