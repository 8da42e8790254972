"""A time series: the next 24 hours from the last 72, by a recurrent network.

    python examples/time_series.py
    UNISONO_CPU_DEVICES=2 python examples/time_series.py

The series is made here: three years of hourly temperatures with seasons, days, and weather that changes slowly. The
forecast is compared with the one that needs no model: the next day is like the last one.

Output on two CPU devices:

    Epoch 1/4
    164/164 - 5s - 29ms/step - loss: 0.2973 - val_loss: 0.0855
    …
    Epoch 4/4
    164/164 - 2s - 15ms/step - loss: 0.0860 - val_loss: 0.0746
    mean error: 1.71 degrees; of the last day taken as the next: 2.30 degrees
"""

import argparse

import unisono  # before keras: it selects Keras's JAX backend
import keras
import numpy as np
from keras import layers

PAST, FUTURE = 72, 24

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--days", type=int, default=3 * 365)
options = parser.parse_args()


def make_temperatures(days):
    """Hourly values in degrees: a year, a day, and weather that remembers 98 % of the hour before."""
    hours = np.arange(24 * days)
    noise = np.random.default_rng(0).normal(0, 0.7, len(hours))
    weather = np.zeros(len(hours))
    for hour in hours[1:]:
        weather[hour] = 0.98 * weather[hour - 1] + noise[hour]
    return 10 - 9 * np.cos(2 * np.pi * hours / (24 * 365)) - 5 * np.cos(2 * np.pi * (hours - 3) / 24) + weather


keras.utils.set_random_seed(0)
series = make_temperatures(options.days)
num_train = len(series) * 4 // 5
mean, deviation = series[:num_train].mean(), series[:num_train].std()
scaled = ((series - mean) / deviation).astype("float32")


def cut_windows(values):
    """Every stretch of 96 hours as a row: what is seen, and what is to be said."""
    rows = np.lib.stride_tricks.sliding_window_view(values, PAST + FUTURE)
    return rows[:, :PAST, None], rows[:, PAST:]


x, y = cut_windows(scaled[:num_train])
x_test, y_test = cut_windows(scaled[num_train:])

strategy = unisono.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.Input((PAST, 1)), layers.GRU(32), layers.Dense(FUTURE)])
    model.compile(keras.optimizers.Adam(3e-3), "mse")
model.fit(x, y, batch_size=128, epochs=options.epochs, validation_data=(x_test, y_test), verbose=2)

forecast = model.predict(x_test, batch_size=512, verbose=0)
error = np.abs(forecast - y_test).mean() * deviation
error_of_last_day = np.abs(x_test[:, -FUTURE:, 0] - y_test).mean() * deviation
print(f"mean error: {error:.2f} degrees; of the last day taken as the next: {error_of_last_day:.2f} degrees")
