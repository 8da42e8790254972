"""A learning-rate finder, one-cycle and cyclic schedules as callbacks that set optimizer.lr at every batch."""

import math
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.callbacks import Callback, LambdaCallback


class LRFinder:
    def __init__(self, model, stopFactor=4, beta=0.9):
        self.model = model
        self.stopFactor = stopFactor
        self.beta = beta
        self.lrs = []
        self.losses = []
        self.lrMult = 1
        self.avgLoss = 0
        self.bestLoss = 1e9
        self.batchNum = 0
        self.weightsFile = None

    def on_batch_end(self, batch, logs):
        lr = K.get_value(self.model.optimizer.lr)
        self.lrs.append(lr)
        l = logs["loss"]
        self.batchNum += 1
        self.avgLoss = (self.beta * self.avgLoss) + ((1 - self.beta) * l)
        smooth = self.avgLoss / (1 - (self.beta**self.batchNum))
        self.losses.append(smooth)
        stopLoss = self.stopFactor * self.bestLoss
        if self.batchNum > 1 and smooth > stopLoss:
            self.model.stop_training = True
            return
        if self.batchNum == 1 or smooth < self.bestLoss:
            self.bestLoss = smooth
        lr *= self.lrMult
        K.set_value(self.model.optimizer.lr, lr)

    def find(self, trainData, startLR, endLR, epochs=None, stepsPerEpoch=None, batchSize=32):
        numBatchUpdates = epochs * stepsPerEpoch
        self.lrMult = (endLR / startLR) ** (1.0 / numBatchUpdates)
        self.weightsFile = tempfile.mkstemp(suffix=".weights.h5")[1]
        self.model.save_weights(self.weightsFile)
        origLR = K.get_value(self.model.optimizer.lr)
        K.set_value(self.model.optimizer.lr, startLR)
        callback = LambdaCallback(on_batch_end=lambda batch, logs: self.on_batch_end(batch, logs))
        self.model.fit(
            x=trainData[0], y=trainData[1], batch_size=batchSize, epochs=epochs, callbacks=[callback], verbose=0
        )
        self.model.load_weights(self.weightsFile)
        K.set_value(self.model.optimizer.lr, origLR)


class CyclicLR(Callback):
    def __init__(self, base_lr=0.001, max_lr=0.006, step_size=2000.0, mode="triangular"):
        super(CyclicLR, self).__init__()
        self.base_lr = base_lr
        self.max_lr = max_lr
        self.step_size = step_size
        self.mode = mode
        self.clr_iterations = 0.0
        self.trn_iterations = 0.0
        self.history = {}

    def clr(self):
        cycle = np.floor(1 + self.clr_iterations / (2 * self.step_size))
        x = np.abs(self.clr_iterations / self.step_size - 2 * cycle + 1)
        return self.base_lr + (self.max_lr - self.base_lr) * np.maximum(0, (1 - x))

    def on_train_begin(self, logs={}):
        logs = logs or {}
        K.set_value(self.model.optimizer.lr, self.base_lr if self.clr_iterations == 0 else self.clr())

    def on_batch_end(self, epoch, logs=None):
        logs = logs or {}
        self.trn_iterations += 1
        self.clr_iterations += 1
        self.history.setdefault("lr", []).append(K.get_value(self.model.optimizer.lr))
        self.history.setdefault("iterations", []).append(self.trn_iterations)
        for k, v in logs.items():
            self.history.setdefault(k, []).append(v)
        K.set_value(self.model.optimizer.lr, self.clr())


class WarmupCosine(tf.keras.callbacks.Callback):
    def __init__(self, total_steps, peak):
        self.total_steps, self.peak, self.step = total_steps, peak, 0

    def on_train_batch_begin(self, batch, logs=None):
        progress = self.step / self.total_steps
        self.model.optimizer.learning_rate = self.peak * 0.5 * (1 + math.cos(math.pi * progress))
        self.step += 1


tf.keras.utils.set_random_seed(0)
x = np.random.RandomState(0).randn(512, 10)
y = (x[:, :1] * 2 + x[:, 1:2] ** 2 > 0.5).astype("float32")
with tf.distribute.MirroredStrategy().scope():
    model = tf.keras.models.Sequential(
        [tf.keras.layers.Dense(24, activation="elu", input_dim=10), tf.keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile(tf.keras.optimizers.SGD(learning_rate=0.01, momentum=0.9), "binary_crossentropy", metrics=["acc"])
before = model.get_weights()
finder = LRFinder(model)
finder.find((x, y), 1e-5, 10.0, epochs=3, stepsPerEpoch=512 // 32)
assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights()))
assert len(finder.lrs) <= 48 and np.all(np.diff(finder.lrs) > 0)
assert abs(K.get_value(model.optimizer.lr) - 0.01) < 1e-6
print("best loss %.3f at lr %.4f" % (finder.bestLoss, finder.lrs[int(np.argmin(finder.losses))]))

clr = CyclicLR(base_lr=0.001, max_lr=0.2, step_size=16.0)
history = model.fit(x, y, batch_size=32, epochs=8, callbacks=[clr], verbose=0)
assert len(clr.history["lr"]) == 128 and max(clr.history["lr"]) > 0.18
assert history.history["acc"][-1] > 0.75, history.history
cosine = WarmupCosine(32, 0.1)
model.fit(x, y, batch_size=32, epochs=2, callbacks=[cosine], verbose=0)
assert cosine.step == 32 and float(model.optimizer.learning_rate.numpy()) < 0.01
print("ok")
