"""A small GPT that learns to write like Python's documentation, with its state divided among the devices.

    python examples/gpt.py                                    # about a minute on two CPU cores
    UNISONO_CPU_DEVICES=4 python examples/gpt.py              # four CPU devices, each with a quarter of the state
    python examples/gpt.py --strategy one                     # the same losses on one device
    unisono run -n 2 --devices cpu:2 examples/gpt.py --width 256 --blocks 6
    python examples/gpt.py --text docs --prompt "# Unisono"   # your own text: a file, or a folder of .md and .txt files

The model is plain Keras. Under `FullyShardedStrategy` every device stores a part of the weights and of Adam's moments;
with `--strategy mirrored` every device stores all of them. The losses are the same, up to the order in which numbers
are added: dropout draws the same numbers on any number of devices.

Output on two CPU devices with Python 3.11:

    Epoch 1/12
    83/83 - 63s - 758ms/step - loss: 5.7432
    …
    Epoch 12/12
    83/83 - 3s - 38ms/step - loss: 0.9229
    State: 7.4 MB, of which each device stores 3.7 MB (50.4%).
    A training step: each device receives 2.5 MB of weights and sends 1.2 MB of gradients …

and what it writes after "If the":

    If the "NameError" is executed in the exception. " is
    "
    " statement in the
    "finally"except"finally" clause is present,
    is raised that is used.

    The " statement is used for " statement is "
    clause.  If an exception, the inverseclause.  An is executed.  When a information is determined by the loop …
"""

import argparse
import collections
import pydoc_data.topics
import re
from pathlib import Path

import unisono  # before keras: it selects Keras's JAX backend
import jax
import keras
import numpy as np
from keras import layers, ops

STRATEGIES = {
    "sharded": unisono.FullyShardedStrategy,
    "mirrored": unisono.MirroredStrategy,
    "one": lambda: unisono.OneDeviceStrategy(jax.devices()[0]),
}


class Block(layers.Layer):
    """Attention and a feed-forward network, each added to its input."""

    def __init__(self, width, heads, dropout, **kwargs):
        super().__init__(**kwargs)
        self.attend = layers.MultiHeadAttention(heads, width // heads, dropout=dropout)
        self.widen, self.narrow = layers.Dense(4 * width, activation="gelu"), layers.Dense(width)
        self.drop = layers.Dropout(dropout)
        self.norms = [layers.LayerNormalization(epsilon=1e-5), layers.LayerNormalization(epsilon=1e-5)]

    def build(self, shape):
        self.attend.build(shape, shape)
        self.widen.build(shape)
        self.narrow.build((*shape[:-1], 4 * shape[-1]))
        for norm in self.norms:
            norm.build(shape)

    def call(self, x):
        normed = self.norms[0](x)
        x = x + self.attend(normed, normed, use_causal_mask=True)
        return x + self.drop(self.narrow(self.widen(self.norms[1](x))))


def make_gpt(num_tokens, length, width, heads, blocks, dropout):
    tokens = keras.Input((length,), dtype="int32")
    x = layers.Embedding(num_tokens, width)(tokens)
    x = x + layers.Embedding(length, width)(ops.arange(length))
    for _ in range(blocks):
        x = Block(width, heads, dropout)(x)
    return keras.Model(tokens, layers.Dense(num_tokens)(layers.LayerNormalization()(x)))


class Vocabulary:
    """All characters of a text, and its most frequent words with the space before them. Other words are spelled."""

    def __init__(self, text, num_words=2000):
        words = collections.Counter(self.split(text)).most_common(num_words)
        self.tokens = sorted({*text, *(word for word, _ in words)})
        self.numbers = {token: number for number, token in enumerate(self.tokens)}

    def split(self, text):
        return re.findall(r" ?\w+|\s+|[^\w\s]+", text)

    def encode(self, text):
        tokens = (token for word in self.split(text) for token in ([word] if word in self.numbers else word))
        return [self.numbers[token] for token in tokens if token in self.numbers]

    def decode(self, numbers):
        return "".join(self.tokens[number] for number in numbers)


def read_text(path):
    """The text to learn: of files, or the pages that Python's `help()` shows, which every Python has."""
    if path is None:
        return "\n\n".join(pydoc_data.topics.topics.values())
    files = [path] if path.is_file() else sorted({*path.rglob("*.md"), *path.rglob("*.txt")})
    return "\n\n".join(file.read_text(encoding="utf-8") for file in files)


def cut_windows(numbers, length):
    """Overlapping windows of the text as rows: what is read, and what comes next."""
    rows = np.lib.stride_tricks.sliding_window_view(np.array(numbers, "int32"), length + 1)[:: length // 2]
    return rows[:, :-1], rows[:, 1:]


def write(model, numbers, length, how_many, temperature=0.6):
    """``numbers`` and the tokens that the model writes after them. A low temperature prefers probable ones."""
    rng, numbers = np.random.default_rng(0), list(numbers)
    for _ in range(how_many):
        window = numbers[-length:]
        logits = model.predict_on_batch(np.array([window + [0] * (length - len(window))], "int32"))
        scores = logits[0, len(window) - 1].astype("float64") / temperature
        odds = np.exp(scores - scores.max())
        numbers.append(int(rng.choice(len(odds), p=odds / odds.sum())))
    return numbers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strategy", choices=STRATEGIES, default="sharded")
    parser.add_argument("--text", type=Path, help="a file, or a folder of .md and .txt files")
    parser.add_argument("--prompt", default="If the")
    parser.add_argument("--dropout", type=float, default=0.0)
    sizes = {"characters": 80_000, "width": 96, "heads": 4, "blocks": 2, "length": 64, "batch": 8, "epochs": 12}
    for name, default in {**sizes, "write": 100}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()

    keras.utils.set_random_seed(0)
    text = read_text(options.text)[: options.characters]
    vocabulary = Vocabulary(text)
    x, y = cut_windows(vocabulary.encode(text), options.length)

    strategy = STRATEGIES[options.strategy]()
    with strategy.scope():
        sizes = (len(vocabulary.tokens), options.length, options.width, options.heads, options.blocks)
        model = make_gpt(*sizes, options.dropout)
        optimizer = keras.optimizers.AdamW(2e-3, global_clipnorm=1.0)
        model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x, y, batch_size=options.batch, epochs=options.epochs, verbose=2)
    strategy.explain(model, print_fn=lambda lines: print(*lines.splitlines()[-2:], sep="\n"))
    print(vocabulary.decode(write(model, vocabulary.encode(options.prompt), options.length, options.write)))


if __name__ == "__main__":
    main()
