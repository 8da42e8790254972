"""Knowledge distillation: compile() with more losses, a frozen teacher, test_step with compiled metrics."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.random.set_seed(0)


class Distiller(keras.Model):
    def __init__(self, student, teacher):
        super(Distiller, self).__init__()
        self.teacher = teacher
        self.student = student

    def compile(self, optimizer, metrics, student_loss_fn, distillation_loss_fn, alpha=0.1, temperature=3):
        super(Distiller, self).compile(optimizer=optimizer, metrics=metrics)
        self.student_loss_fn = student_loss_fn
        self.distillation_loss_fn = distillation_loss_fn
        self.alpha = alpha
        self.temperature = temperature

    def train_step(self, data):
        x, y = data
        teacher_predictions = self.teacher(x, training=False)
        with tf.GradientTape() as tape:
            student_predictions = self.student(x, training=True)
            student_loss = self.student_loss_fn(y, student_predictions)
            distillation_loss = (
                self.distillation_loss_fn(
                    tf.nn.softmax(teacher_predictions / self.temperature, axis=1),
                    tf.nn.softmax(student_predictions / self.temperature, axis=1),
                )
                * self.temperature**2
            )
            loss = self.alpha * student_loss + (1 - self.alpha) * distillation_loss
        trainable_vars = self.student.trainable_variables
        gradients = tape.gradient(loss, trainable_vars)
        self.optimizer.apply_gradients(zip(gradients, trainable_vars))
        self.compiled_metrics.update_state(y, student_predictions)
        results = {m.name: m.result() for m in self.metrics}
        results.update({"student_loss": student_loss, "distillation_loss": distillation_loss})
        return results

    def test_step(self, data):
        x, y = data
        y_prediction = self.student(x, training=False)
        student_loss = self.student_loss_fn(y, y_prediction)
        self.compiled_metrics.update_state(y, y_prediction)
        results = {m.name: m.result() for m in self.metrics}
        results.update({"student_loss": student_loss})
        return results

    def call(self, x):
        return self.student(x)


rng = np.random.RandomState(0)
protos = rng.rand(4, 12, 12, 1)
y_train = rng.randint(0, 4, 512)
x_train = (protos[y_train] + 0.3 * rng.randn(512, 12, 12, 1)).astype("float32")
y_test = rng.randint(0, 4, 128)
x_test = (protos[y_test] + 0.3 * rng.randn(128, 12, 12, 1)).astype("float32")

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    teacher = keras.Sequential(
        [
            keras.Input(shape=(12, 12, 1)),
            layers.Conv2D(16, (3, 3), strides=(2, 2), padding="same"),
            layers.LeakyReLU(alpha=0.2),
            layers.MaxPooling2D(pool_size=(2, 2), strides=(1, 1), padding="same"),
            layers.Conv2D(32, (3, 3), strides=(2, 2), padding="same"),
            layers.Flatten(),
            layers.Dense(4),
        ],
        name="teacher",
    )
    student = keras.Sequential(
        [
            keras.Input(shape=(12, 12, 1)),
            layers.Conv2D(4, (3, 3), strides=(2, 2), padding="same"),
            layers.LeakyReLU(alpha=0.2),
            layers.Flatten(),
            layers.Dense(4),
        ],
        name="student",
    )
    student_scratch = keras.models.clone_model(student)
    teacher.compile(
        optimizer=keras.optimizers.Adam(),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy()],
    )
teacher.fit(x_train, y_train, epochs=3, verbose=2)
teacher_accuracy = teacher.evaluate(x_test, y_test, verbose=0)[1]

with strategy.scope():
    distiller = Distiller(student=student, teacher=teacher)
    distiller.compile(
        optimizer=keras.optimizers.Adam(0.005),
        metrics=[keras.metrics.SparseCategoricalAccuracy()],
        student_loss_fn=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        distillation_loss_fn=keras.losses.KLDivergence(),
        alpha=0.1,
        temperature=10,
    )
before = [w.copy() for w in teacher.get_weights()]
distiller.fit(x_train, y_train, epochs=3, verbose=2)
for a, b in zip(before, teacher.get_weights()):
    np.testing.assert_array_equal(a, b)
values = distiller.evaluate(x_test, y_test, verbose=0, return_dict=True)
print("teacher", teacher_accuracy, "student", values)
assert max(v for k, v in values.items() if "accuracy" in k) > 0.8
prediction = np.argmax(distiller.predict(x_test, verbose=0), axis=-1)
assert np.mean(prediction == y_test) > 0.8
print("ok")
