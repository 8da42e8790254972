"""Multi-task learning with a mixture of experts: a layer with lists of weights, several outputs, dicts of losses."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model
from tensorflow.keras import backend as K
from tensorflow.keras import activations, initializers, regularizers
from tensorflow.keras.callbacks import Callback
from tensorflow.keras.layers import Dense, InputSpec, Layer

SEED = 1


class MMoE(Layer):
    def __init__(self, units, num_experts, num_tasks, expert_activation="relu", kernel_regularizer=None, **kwargs):
        super(MMoE, self).__init__(**kwargs)
        self.units = units
        self.num_experts = num_experts
        self.num_tasks = num_tasks
        self.expert_kernels = None
        self.gate_kernels = None
        self.expert_activation = activations.get(expert_activation)
        self.gate_activation = activations.get("softmax")
        self.initializer = initializers.get("VarianceScaling")
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True

    def build(self, input_shape):
        assert input_shape is not None and len(input_shape) >= 2
        input_dimension = input_shape[-1]
        self.expert_kernels = self.add_weight(
            name="expert_kernel",
            shape=(input_dimension, self.units, self.num_experts),
            initializer=self.initializer,
            regularizer=self.kernel_regularizer,
        )
        self.gate_kernels = [
            self.add_weight(
                name="gate_kernel_task_{}".format(i),
                shape=(input_dimension, self.num_experts),
                initializer=self.initializer,
            )
            for i in range(self.num_tasks)
        ]
        self.input_spec = InputSpec(min_ndim=2, axes={-1: input_dimension})
        super(MMoE, self).build(input_shape)

    def call(self, inputs, **kwargs):
        final_outputs = []
        expert_outputs = tf.tensordot(inputs, self.expert_kernels, axes=1)
        expert_outputs = self.expert_activation(expert_outputs)
        for gate_kernel in self.gate_kernels:
            gate_output = self.gate_activation(K.dot(inputs, gate_kernel))
            expanded = K.expand_dims(gate_output, axis=1)
            weighted = expert_outputs * K.repeat_elements(expanded, self.units, axis=1)
            final_outputs.append(K.sum(weighted, axis=2))
        return final_outputs

    def compute_output_shape(self, input_shape):
        return [(input_shape[0], self.units) for _ in range(self.num_tasks)]

    def get_config(self):
        config = {"units": self.units, "num_experts": self.num_experts, "num_tasks": self.num_tasks}
        base_config = super(MMoE, self).get_config()
        return dict(list(base_config.items()) + list(config.items()))


class ROCCallback(Callback):
    def __init__(self, data, labels):
        self.X, self.Y = data, labels
        self.history = []

    def on_train_begin(self, logs={}):
        return

    def on_epoch_end(self, epoch, logs={}):
        predictions = self.model.predict(self.X, verbose=0)
        hit = [np.mean((p.ravel() > 0.5) == t) for p, t in zip(predictions[:1], self.Y[:1])]
        self.history.append(hit)
        print("accuracy of task 0: {}".format(hit))


np.random.seed(SEED)
tf.random.set_seed(SEED)
X = np.random.randn(480, 8).astype("float32")
y_class = (X[:, 0] + X[:, 1] > 0).astype("float32")
y_reg = X[:, 2] * 2.0 + X[:, 3]
y_multi = np.argmax(X[:, 4:7], axis=1)

with tf.distribute.MirroredStrategy().scope():
    input_layer = Input(shape=(8,), name="features")
    mmoe_layers = MMoE(units=8, num_experts=4, num_tasks=3, kernel_regularizer="l2")(input_layer)
    output_layers = []
    for index, (task_layer, (units, act, name)) in enumerate(
        zip(mmoe_layers, [(1, "sigmoid", "click"), (1, None, "amount"), (3, "softmax", "kind")])
    ):
        tower = Dense(units=8, activation="relu", kernel_initializer=initializers.VarianceScaling())(task_layer)
        output_layers.append(Dense(units=units, name=name, activation=act)(tower))
    model = Model(inputs=[input_layer], outputs=output_layers)
    model.compile(
        loss={"click": "binary_crossentropy", "amount": "mse", "kind": "sparse_categorical_crossentropy"},
        loss_weights={"click": 1.0, "amount": 0.5, "kind": 1.0},
        optimizer=tf.keras.optimizers.Adam(0.01),
        metrics={
            "click": ["accuracy"],
            "amount": [tf.keras.metrics.RootMeanSquaredError(name="rmse")],
            "kind": "accuracy",
        },
    )
model.summary()
roc = ROCCallback(X[400:], (y_class[400:],))
history = model.fit(
    x=X[:400],
    y={"click": y_class[:400], "amount": y_reg[:400], "kind": y_multi[:400]},
    validation_data=(X[400:], {"click": y_class[400:], "amount": y_reg[400:], "kind": y_multi[400:]}),
    callbacks=[roc],
    epochs=8,
    batch_size=40,
    verbose=2,
)
print(sorted(history.history.keys()))
for key in ("click_loss", "val_amount_rmse", "kind_accuracy", "val_loss"):
    assert key in history.history, key
assert history.history["val_click_accuracy"][-1] > 0.8
model.save("mmoe.h5")
again = tf.keras.models.load_model("mmoe.h5", custom_objects={"MMoE": MMoE})
for a, b in zip(model.predict(X[:4], verbose=0), again.predict(X[:4], verbose=0)):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
print("ok")
