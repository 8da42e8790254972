"""A GPT that learns to write like the documentation of this repository, byte by byte.

python train.py                          # the state divided among all devices
python train.py --strategy one           # on one device: the same losses
unisono run -n 2 --devices cpu:2 train.py --width 256 --blocks 8
"""

import argparse
from pathlib import Path

import unisono  # isort: skip  (before keras: it selects Keras's JAX backend)
import jax
import keras
import numpy as np
from keras import layers, ops

NUM_BYTES = 256
STRATEGIES = {
    "sharded": unisono.FullyShardedStrategy,  # every device stores a part of the weights and of Adam's moments
    "mirrored": unisono.MirroredStrategy,  # every device stores all of them
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


def make_gpt(length, width, heads, blocks, dropout):
    tokens = keras.Input((length,), dtype="int32")
    x = layers.Embedding(NUM_BYTES, width)(tokens)
    x = x + layers.Embedding(length, width)(ops.arange(length))
    for _ in range(blocks):
        with unisono.remat(policy="dots_no_batch"):  # computes attention again for the gradient, and does not keep it
            x = Block(width, heads, dropout)(x)
    return keras.Model(tokens, layers.Dense(NUM_BYTES)(layers.LayerNormalization()(x)))


def read_windows(folder, length):
    """Every page of documentation as bytes, cut into windows: what is read, and what comes next."""
    pages = b"\n".join(page.read_bytes() for page in sorted(folder.rglob("*.md")))
    data = np.frombuffer(pages, "uint8").astype("int32")
    starts = np.arange(0, len(data) - length - 1, length)
    rows = data[starts[:, None] + np.arange(length + 1)]
    return rows[:, :-1], rows[:, 1:]


def write(model, prompt, length, number):
    """``prompt`` and what the model writes after it, the most probable byte each time."""
    text = list(prompt.encode())
    for _ in range(number):
        window = text[-length:]
        logits = model.predict_on_batch(np.array([window + [0] * (length - len(window))], "int32"))
        text.append(int(logits[0, len(window) - 1].argmax()))
    return bytes(text).decode(errors="replace")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strategy", choices=STRATEGIES, default="sharded")
    parser.add_argument("--text", type=Path, default=Path(__file__).parents[2] / "docs", help="a folder of .md files")
    for name, default in {"width": 128, "heads": 4, "blocks": 4, "length": 128, "batch": 32, "epochs": 5}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--write", type=int, default=200, metavar="BYTES", help="how much to write at the end")
    options = parser.parse_args()

    keras.utils.set_random_seed(0)
    strategy = STRATEGIES[options.strategy]()
    with strategy.scope():
        model = make_gpt(options.length, options.width, options.heads, options.blocks, options.dropout)
        model.compile(
            keras.optimizers.AdamW(1e-3, global_clipnorm=1.0),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        )
    x, y = read_windows(options.text, options.length)
    history = model.fit(x, y, batch_size=options.batch, epochs=options.epochs, verbose=2)
    strategy.explain(model)
    print("losses:", *(f"{loss:.5f}" for loss in history.history["loss"]))
    print(write(model, "# Unisono", options.length, options.write))


if __name__ == "__main__":
    main()
