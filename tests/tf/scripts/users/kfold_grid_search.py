"""K-fold cross-validation and a grid of hyper-parameters, with clear_session, del and gc as people do."""

import gc
import itertools
import json
import os
import warnings

warnings.filterwarnings("ignore")
import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.callbacks import CSVLogger, EarlyStopping, LearningRateScheduler, TerminateOnNaN
from tensorflow.keras.layers import BatchNormalization, Dense, Dropout
from tensorflow.keras.models import Sequential
from tensorflow.keras.regularizers import l1_l2

os.environ["PYTHONHASHSEED"] = "0"
np.random.seed(0)
tf.random.set_seed(0)
X = np.random.randn(240, 6)
coef = np.array([1.5, -2.0, 0.0, 0.0, 0.7, 0.0])
y = X @ coef + 0.1 * np.random.randn(240)


class KFold:
    def __init__(self, n_splits, shuffle=True, random_state=0):
        self.n_splits, self.random_state = n_splits, random_state

    def split(self, X):
        idx = np.random.RandomState(self.random_state).permutation(len(X))
        for part in np.array_split(idx, self.n_splits):
            yield np.setdiff1d(idx, part), part


def create_model(units=16, rate=0.0, lr=0.01):
    model = Sequential()
    model.add(Dense(units, input_shape=(6,), activation="relu", kernel_regularizer=l1_l2(1e-5, 1e-5)))
    model.add(BatchNormalization())
    model.add(Dropout(rate))
    model.add(Dense(1, kernel_initializer="normal"))
    model.compile(loss="mean_squared_error", optimizer=tf.keras.optimizers.Adam(learning_rate=lr), metrics=["mae"])
    return model


def scheduler(epoch, lr):
    if epoch < 4:
        return lr
    return lr * tf.math.exp(-0.1)


try:
    strategy = tf.distribute.MirroredStrategy()
except ValueError:
    strategy = tf.distribute.get_strategy()
results = []
grid = {"units": [8, 24], "rate": [0.0]}
for params in [dict(zip(grid, v)) for v in itertools.product(*grid.values())]:
    fold_scores = []
    for fold, (train_idx, valid_idx) in enumerate(KFold(n_splits=3).split(X)):
        K.clear_session()
        mean, std = X[train_idx].mean(0), X[train_idx].std(0)
        x_tr, x_va = (X[train_idx] - mean) / std, (X[valid_idx] - mean) / std
        with strategy.scope():
            model = create_model(**params)
        callbacks = [
            EarlyStopping(monitor="val_loss", patience=3, restore_best_weights=True, verbose=0, min_delta=1e-4),
            LearningRateScheduler(scheduler),
            TerminateOnNaN(),
            CSVLogger("log_%d_%d.csv" % (params["units"], fold)),
        ]
        hist = model.fit(
            x_tr,
            y[train_idx],
            validation_data=(x_va, y[valid_idx]),
            epochs=8,
            batch_size=32,
            verbose=0,
            callbacks=callbacks,
        )
        scores = model.evaluate(x_va, y[valid_idx], verbose=0)
        print("fold %d: %s: %.4f" % (fold, model.metrics_names[-1], scores[1]))
        fold_scores.append(scores[1])
        best = int(np.argmin(hist.history["val_loss"]))
        assert abs(scores[0] - hist.history["val_loss"][best]) < 1e-3
        del model
        gc.collect()
    results.append({**params, "mae": float(np.mean(fold_scores)), "std": float(np.std(fold_scores))})
with open("results.json", "w") as f:
    json.dump(results, f, indent=2)
best = min(results, key=lambda r: r["mae"])
print("Best:", best)
assert len(open("log_8_0.csv").read().splitlines()) >= 2
assert best["mae"] < 2.0
print("ok")
