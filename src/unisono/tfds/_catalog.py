"""The datasets that `tfds.load` knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from unisono.tfds._class_names import COARSE, DIGITS, FINE, GARMENTS, THINGS
from unisono.tfds._features import ClassLabel, FeaturesDict, Image, Text
from unisono.tfds._info import DatasetInfo
from unisono.tfds._sources import Source, cifar, mnist


@dataclass(frozen=True)
class Entry:
    """A dataset of TensorFlow Datasets: its source, and its info without the splits."""

    source: Source
    info: DatasetInfo


_CIFAR: Final = "A. Krizhevsky: Learning multiple layers of features from tiny images. Technical report, 2009."

CATALOG: Final = {
    entry.info.name: entry
    for entry in (
        Entry(
            cifar,
            DatasetInfo(
                name="cifar10",
                version="3.0.2",
                description="60,000 colour images of 32x32 pixels in 10 classes.",
                homepage="https://www.cs.toronto.edu/~kriz/cifar.html",
                citation=_CIFAR,
                features=FeaturesDict(id=Text(), image=Image((32, 32, 3)), label=ClassLabel(THINGS)),
            ),
        ),
        Entry(
            cifar,
            DatasetInfo(
                name="cifar100",
                version="3.0.2",
                description="60,000 colour images of 32x32 pixels in 100 classes, which form 20 groups.",
                homepage="https://www.cs.toronto.edu/~kriz/cifar.html",
                citation=_CIFAR,
                features=FeaturesDict(
                    coarse_label=ClassLabel(COARSE), id=Text(), image=Image((32, 32, 3)), label=ClassLabel(FINE)
                ),
            ),
        ),
        Entry(
            mnist,
            DatasetInfo(
                name="fashion_mnist",
                version="3.0.1",
                description="70,000 grey images of garments, 28x28 pixels, in 10 classes.",
                homepage="https://github.com/zalandoresearch/fashion-mnist",
                citation="H. Xiao, K. Rasul, R. Vollgraf: Fashion-MNIST. arXiv:1708.07747, 2017.",
                features=FeaturesDict(image=Image((28, 28, 1)), label=ClassLabel(GARMENTS)),
            ),
        ),
        Entry(
            mnist,
            DatasetInfo(
                name="mnist",
                version="3.0.1",
                description="70,000 grey images of handwritten digits, 28x28 pixels.",
                homepage="http://yann.lecun.com/exdb/mnist/",
                citation="Y. LeCun, L. Bottou, Y. Bengio, P. Haffner: Gradient-based learning applied to document "
                "recognition. Proceedings of the IEEE 86(11), 1998.",
                features=FeaturesDict(image=Image((28, 28, 1)), label=ClassLabel(DIGITS)),
            ),
        ),
    )
}
