"""Text classification with strings as the input of the model.

    python examples/text_classification.py
    UNISONO_CPU_DEVICES=2 python examples/text_classification.py

The text is Python's own documentation, which every Python has: `help("assert")` prints a page of it. Paragraphs
that are indented are code for the most part, the others are prose, and the model learns to tell them apart by their
words. The layer that turns strings into numbers is a part of the model: `fit` and `predict` run it on the host, and the
rest on the devices.

Output on two CPU devices with Python 3.11:

    Epoch 1/6
    66/66 - 4s - 59ms/step - accuracy: 0.6758 - loss: 0.6404
    …
    Epoch 6/6
    66/66 - 0s - 2ms/step - accuracy: 0.9588 - loss: 0.1554
    17/17 - 2s - 125ms/step - accuracy: 0.8812 - loss: 0.2910

and what it says of two new texts:

    code  0.97  x = [i ** 2 for i in range(10)]
    prose 0.09  The statement raises an exception if there is none.
"""

import argparse
import pydoc_data.topics

import unisono.tf  # before keras. Without the namespace of TensorFlow, Keras has no layers for strings
import keras
import numpy as np
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--paragraphs", type=int, help="train on so many of them instead of all")
options = parser.parse_args()


keras.utils.set_random_seed(0)
pages = pydoc_data.topics.topics.values()
paragraphs = [text for page in pages for text in page.split("\n\n") if any(map(str.isalpha, text))]
np.random.default_rng(0).shuffle(paragraphs)
paragraphs = paragraphs[: options.paragraphs]
texts = np.array([" ".join(paragraph.split()) for paragraph in paragraphs])  # without indentation and lines
is_code = np.array([paragraph.startswith("   ") for paragraph in paragraphs], "float32")
num_train = len(texts) * 4 // 5

vectorize = layers.TextVectorization(max_tokens=5000, output_sequence_length=40, standardize="lower")
vectorize.adapt(texts[:num_train])

strategy = unisono.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential(
        [
            keras.Input((), dtype="string"),
            vectorize,
            layers.Embedding(5000, 32, mask_zero=True),
            layers.GlobalAveragePooling1D(),
            layers.Dropout(0.3),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(keras.optimizers.Adam(3e-3), "binary_crossentropy", metrics=["accuracy"])

model.fit(texts[:num_train], is_code[:num_train], batch_size=32, epochs=options.epochs, verbose=2)
model.evaluate(texts[num_train:], is_code[num_train:], batch_size=32, verbose=2)

sentences = ["x = [i ** 2 for i in range(10)]", "The statement raises an exception if there is none."]
for sentence, probability in zip(sentences, model.predict(np.array(sentences), verbose=0)[:, 0], strict=True):
    print(f"{'code ' if probability > 0.5 else 'prose'} {probability:.2f}  {sentence}")
