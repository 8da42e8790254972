"""Plans: six operations and more, as pipelines are really written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._space import Space

IMAGES = (np.arange(48, dtype=np.uint8) * 5).reshape(12, 2, 2)
LABELS = np.arange(12, dtype=np.int32) % 3


def _next_tokens(space: Space) -> Any:
    """A text cut into windows, each a model's input and the same shifted by one."""
    return (
        space.numbers(20)
        .window(5, shift=4, drop_remainder=True)
        .flat_map(lambda w: w.batch(5, drop_remainder=True))
        .map(lambda w: (w[:-1], w[1:]))
        .batch(2, drop_remainder=True)
        .repeat(2)
        .prefetch(2)
    )


def _classified_images(space: Space) -> Any:
    return (
        space.slices((IMAGES, LABELS))
        .map(lambda x, y: (x / 255, y), num_parallel_calls=space.data.AUTOTUNE)
        .filter(lambda x, y: y != 1)
        .cache()
        .repeat(2)
        .batch(5, drop_remainder=True)
        .take(2)
        .prefetch(space.data.AUTOTUNE)
    )


def _features_in_dicts(space: Space) -> Any:
    return (
        space.Dataset.zip({"image": space.slices(IMAGES), "label": space.slices(LABELS)})
        .concatenate(space.slices({"image": IMAGES[:2], "label": LABELS[:2]}))
        .shard(2, 1)
        .map(lambda d: {"x": d["image"][0], "y": d["label"] + 1})
        .skip(1)
        .batch(4)
        .enumerate(start=3)
        .cache()
    )


def _sentences_in_buckets(space: Space) -> Any:
    return (
        space.rows(1, 4, 2, 6, 3, 5, 2)
        .filter(lambda x: space.length(x) != 6)
        .map(lambda x: x - 9)
        .repeat(2)
        .bucket_by_sequence_length(space.length, [3, 5], [3, 2, 1])
        .map(lambda x: (x, x > 0))
        .take(4)
    )


def _files_read_alternately(space: Space) -> Any:
    return (
        space.range(6)
        .shard(2, 0)
        .interleave(lambda x: space.Dataset.range(x * 10, x * 10 + 5), cycle_length=2, block_length=2)
        .batch(4)
        .unbatch()
        .skip(1)
        .batch(3)
        .rebatch(5)
        .prefetch(1)
    )


def _two_tasks_sampled(space: Space) -> Any:
    first = space.numbers(4).map(lambda x: (x, x * 2)).batch(2).repeat()
    second = space.numbers(3).map(lambda x: (-x, x)).batch(2).repeat()
    choices = space.slices(np.array([0, 0, 1], np.int64)).repeat(2)
    return space.Dataset.choose_from_datasets([first, second], choices).unbatch().batch(4).enumerate().take(2)


def _sums_over_time(space: Space) -> Any:
    return (
        space.numbers(12)
        .filter(lambda x: x % 4 != 0)
        .scan(np.int32(0), lambda total, x: (total + x, total + x))
        .window(3, shift=2, drop_remainder=True)
        .flat_map(lambda w: w.batch(3))
        .map(lambda w: w[2] - w[0])
        .take_while(lambda d: d < 17)
        .batch(2)
    )


def _padded_and_repeated(space: Space) -> Any:
    return (
        space.rows(3, 1, 2, 5, 4)
        .enumerate()
        .filter(lambda i, x: i != 1)
        .map(lambda i, x: x * 2)
        .skip(1)
        .padded_batch(2, padded_shapes=[None], padding_values=-1)
        .repeat(2)
        .cache()
        .take(3)
    )


DEEP = {
    "deep_next_tokens": _next_tokens,
    "deep_classified_images": _classified_images,
    "deep_features_in_dicts": _features_in_dicts,
    "deep_sentences_in_buckets": _sentences_in_buckets,
    "deep_files_read_in_turns": _files_read_alternately,
    "deep_two_tasks_mixed": _two_tasks_sampled,
    "deep_sums_over_time": _sums_over_time,
    "deep_padded_and_repeated": _padded_and_repeated,
    "deep_all_known_numbers": lambda s: (
        s.numbers(40).skip(3).shard(3, 1).map(lambda x: x + 1).repeat(3).batch(4).take(7).skip(2).cache().prefetch(1)
    ),
    "deep_batches_of_windows": lambda s: (
        s.range(30)
        .filter(lambda x: x % 3 != 0)
        .batch(4)
        .unbatch()
        .window(4, 2)
        .flat_map(lambda w: w.batch(4))
        .skip(1)
        .take(4)
    ),
    "deep_zip_of_pipelines": lambda s: (
        s.Dataset.zip(
            s.numbers(10).map(lambda x: x * 2).batch(3), s.pairs(8).filter(lambda x, y: x > 0).skip(1).batch(2)
        )
        .enumerate()
        .skip(1)
    ),
    "deep_shuffled_epochs": lambda s: sorted(
        int(x) for b in s.numbers(10).map(lambda x: x + 1).cache().shuffle(10).repeat(2).batch(4).prefetch(1) for x in b
    ),
}
