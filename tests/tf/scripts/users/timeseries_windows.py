"""Forecasts over windows of a series: a window class, baselines, a residual wrapper, an autoregressive LSTM cell."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)

t = np.arange(600, dtype=np.float32)
data = np.stack([np.sin(t / 7), np.cos(t / 7), np.random.RandomState(0).randn(600) * 0.05], axis=1).astype(np.float32)
column_indices = {"wx": 0, "wy": 1, "noise": 2}
n = len(data)
train_df, val_df, test_df = data[: int(n * 0.7)], data[int(n * 0.7) : int(n * 0.9)], data[int(n * 0.9) :]
num_features = data.shape[1]
mean, std = train_df.mean(0), train_df.std(0)
train_df, val_df, test_df = [(d - mean) / std for d in (train_df, val_df, test_df)]


class WindowGenerator:
    def __init__(self, input_width, label_width, shift, train_df=train_df, val_df=val_df, label_columns=None):
        self.train_df = train_df
        self.val_df = val_df
        self.label_columns = label_columns
        if label_columns is not None:
            self.label_columns_indices = {name: i for i, name in enumerate(label_columns)}
        self.column_indices = column_indices
        self.input_width = input_width
        self.label_width = label_width
        self.shift = shift
        self.total_window_size = input_width + shift
        self.input_slice = slice(0, input_width)
        self.input_indices = np.arange(self.total_window_size)[self.input_slice]
        self.label_start = self.total_window_size - self.label_width
        self.labels_slice = slice(self.label_start, None)
        self.label_indices = np.arange(self.total_window_size)[self.labels_slice]

    def __repr__(self):
        return "\n".join([f"Total window size: {self.total_window_size}", f"Label indices: {self.label_indices}"])

    def split_window(self, features):
        inputs = features[:, self.input_slice, :]
        labels = features[:, self.labels_slice, :]
        if self.label_columns is not None:
            labels = tf.stack([labels[:, :, self.column_indices[name]] for name in self.label_columns], axis=-1)
        inputs.set_shape([None, self.input_width, None])
        labels.set_shape([None, self.label_width, None])
        return inputs, labels

    def make_dataset(self, data):
        data = np.array(data, dtype=np.float32)
        ds = tf.keras.utils.timeseries_dataset_from_array(
            data=data,
            targets=None,
            sequence_length=self.total_window_size,
            sequence_stride=1,
            shuffle=True,
            batch_size=32,
        )
        return ds.map(self.split_window)

    @property
    def train(self):
        return self.make_dataset(self.train_df)

    @property
    def val(self):
        return self.make_dataset(self.val_df)

    @property
    def example(self):
        result = getattr(self, "_example", None)
        if result is None:
            result = next(iter(self.train))
            self._example = result
        return result


strategy = tf.distribute.MirroredStrategy()
MAX_EPOCHS = 5
performance = {}


def compile_and_fit(model, window, patience=2):
    early_stopping = tf.keras.callbacks.EarlyStopping(monitor="val_loss", patience=patience, mode="min")
    model.compile(
        loss=tf.keras.losses.MeanSquaredError(),
        optimizer=tf.keras.optimizers.Adam(0.01),
        metrics=[tf.keras.metrics.MeanAbsoluteError()],
    )
    return model.fit(window.train, epochs=MAX_EPOCHS, validation_data=window.val, callbacks=[early_stopping], verbose=0)


class Baseline(tf.keras.Model):
    def __init__(self, label_index=None):
        super().__init__()
        self.label_index = label_index

    def call(self, inputs):
        if self.label_index is None:
            return inputs
        result = inputs[:, :, self.label_index]
        return result[:, :, tf.newaxis]


single_step = WindowGenerator(input_width=1, label_width=1, shift=1, label_columns=["wx"])
print(single_step)
with strategy.scope():
    baseline = Baseline(label_index=column_indices["wx"])
    baseline.compile(loss=tf.keras.losses.MeanSquaredError(), metrics=[tf.keras.metrics.MeanAbsoluteError()])
performance["Baseline"] = baseline.evaluate(single_step.val, verbose=0)

wide = WindowGenerator(input_width=6, label_width=6, shift=1)
with strategy.scope():
    linear = tf.keras.Sequential([tf.keras.layers.Dense(units=1)])
    compile_and_fit(linear, single_step)
performance["Linear"] = linear.evaluate(single_step.val, verbose=0)
print("Input shape:", wide.example[0].shape, "Output shape:", linear(wide.example[0]).shape)


class ResidualWrapper(tf.keras.Model):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def call(self, inputs, *args, **kwargs):
        delta = self.model(inputs, *args, **kwargs)
        return inputs + delta


with strategy.scope():
    residual_lstm = ResidualWrapper(
        tf.keras.Sequential(
            [
                tf.keras.layers.LSTM(16, return_sequences=True),
                tf.keras.layers.Dense(num_features, kernel_initializer=tf.initializers.zeros()),
            ]
        )
    )
    compile_and_fit(residual_lstm, wide)
performance["Residual LSTM"] = residual_lstm.evaluate(wide.val, verbose=0)

OUT_STEPS = 4
multi_window = WindowGenerator(input_width=12, label_width=OUT_STEPS, shift=OUT_STEPS)


class FeedBack(tf.keras.Model):
    def __init__(self, units, out_steps):
        super().__init__()
        self.out_steps = out_steps
        self.units = units
        self.lstm_cell = tf.keras.layers.LSTMCell(units)
        self.lstm_rnn = tf.keras.layers.RNN(self.lstm_cell, return_state=True)
        self.dense = tf.keras.layers.Dense(num_features)

    def warmup(self, inputs):
        x, *state = self.lstm_rnn(inputs)
        prediction = self.dense(x)
        return prediction, state

    def call(self, inputs, training=None):
        predictions = []
        prediction, state = self.warmup(inputs)
        predictions.append(prediction)
        for _ in range(1, self.out_steps):
            x = prediction
            x, state = self.lstm_cell(x, states=state, training=training)
            prediction = self.dense(x)
            predictions.append(prediction)
        predictions = tf.stack(predictions)
        predictions = tf.transpose(predictions, [1, 0, 2])
        return predictions


with strategy.scope():
    feedback_model = FeedBack(units=16, out_steps=OUT_STEPS)
    prediction, state = feedback_model.warmup(multi_window.example[0])
    print("prediction", prediction.shape)
    history = compile_and_fit(feedback_model, multi_window)
performance["AR LSTM"] = feedback_model.evaluate(multi_window.val, verbose=0)
for name, value in performance.items():
    print(f"{name:15s}: {value[1]:0.4f}")
assert performance["Residual LSTM"][1] < 0.5
assert history.history["val_loss"][-1] < history.history["val_loss"][0]
assert "mean_absolute_error" in feedback_model.metrics_names or len(feedback_model.metrics_names) == 2
print("ok")
