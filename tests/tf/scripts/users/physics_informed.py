"""A physics-informed network for u'' = -u, derivatives by nested and persistent tapes; then a step of MAML."""

import numpy as np
import tensorflow as tf

tf.keras.backend.set_floatx("float32")
DTYPE = "float32"
tf.random.set_seed(0)
t_r = tf.random.uniform((64, 1), 0.0, 3.0, dtype=DTYPE)
t_0 = tf.zeros((1, 1), dtype=DTYPE)


def init_model(num_hidden_layers=2, num_neurons_per_layer=16):
    model = tf.keras.Sequential()
    model.add(tf.keras.Input(1))
    scaling_layer = tf.keras.layers.Lambda(lambda x: 2.0 * x / 3.0 - 1.0)
    model.add(scaling_layer)
    for _ in range(num_hidden_layers):
        model.add(
            tf.keras.layers.Dense(
                num_neurons_per_layer, activation=tf.keras.activations.get("tanh"), kernel_initializer="glorot_normal"
            )
        )
    model.add(tf.keras.layers.Dense(1))
    return model


def get_r(model, t_r):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(t_r)
        u = model(t_r)
        u_t = tape.gradient(u, t_r)
    u_tt = tape.gradient(u_t, t_r)
    del tape
    return u_tt + u


def compute_loss(model, t_r, t_0):
    phi_r = tf.reduce_mean(tf.square(get_r(model, t_r)))
    loss = phi_r
    with tf.GradientTape() as tape:
        tape.watch(t_0)
        u0 = model(t_0)
    du0 = tape.gradient(u0, t_0)
    loss += tf.reduce_mean(tf.square(u0 - 1.0)) + tf.reduce_mean(tf.square(du0))
    return loss


def get_grad(model, t_r, t_0):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(model.trainable_variables)
        loss = compute_loss(model, t_r, t_0)
    g = tape.gradient(loss, model.trainable_variables)
    del tape
    return loss, g


model = init_model()
lr = tf.keras.optimizers.schedules.PiecewiseConstantDecay([300, 500], [1e-2, 5e-3, 1e-3])
optim = tf.keras.optimizers.Adam(learning_rate=lr)


@tf.function
def train_step():
    loss, grad_theta = get_grad(model, t_r, t_0)
    optim.apply_gradients(zip(grad_theta, model.trainable_variables))
    return loss


hist = []
for i in range(401):
    loss = train_step()
    hist.append(loss.numpy())
    if i % 100 == 0:
        print("It {:05d}: loss = {:10.8e}".format(i, loss))
assert hist[-1] < 0.05 * hist[0]
times = np.linspace(0, 3, 7).astype(DTYPE)[:, None]
error = np.abs(model(times).numpy()[:, 0] - np.cos(times[:, 0])).max()
print("max error", error)
assert error < 0.3

# The same equation in a custom train_step on replicas.


class PINN(tf.keras.Model):
    def __init__(self):
        super(PINN, self).__init__()
        self.net = init_model()

    def call(self, t):
        return self.net(t)

    def train_step(self, t):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as second:
                second.watch(t)
                with tf.GradientTape() as first:
                    first.watch(t)
                    u = self(t, training=True)
                u_t = first.gradient(u, t)
            u_tt = second.gradient(u_t, t)
            loss = tf.reduce_mean(tf.square(u_tt + u))
            loss += tf.reduce_mean(tf.square(self(tf.zeros_like(t)) - 1.0))
        grads = outer.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


with tf.distribute.MirroredStrategy().scope():
    pinn = PINN()
    pinn.compile(optimizer=tf.keras.optimizers.Adam(0.01))
loss = pinn.fit(tf.data.Dataset.from_tensor_slices(t_r).batch(32), epochs=20, verbose=0).history["loss"]
assert loss[-1] < loss[0]


# MAML: the gradient through an inner step.
w = tf.Variable([[0.5], [0.5]])


def forward(x, w):
    return tf.matmul(x, w)


meta_opt = tf.keras.optimizers.SGD(0.05)
rng = np.random.RandomState(0)
meta_losses = []
for task in range(25):
    true_w = np.array([[1.0 + 0.2 * rng.randn()], [-1.0 + 0.2 * rng.randn()]], "float32")
    xs, xq = rng.randn(16, 2).astype("float32"), rng.randn(16, 2).astype("float32")
    with tf.GradientTape() as test_tape:
        with tf.GradientTape() as train_tape:
            train_loss = tf.reduce_mean((forward(xs, w) - xs @ true_w) ** 2)
        g = train_tape.gradient(train_loss, w)
        w_fast = w - 0.1 * g
        test_loss = tf.reduce_mean((forward(xq, w_fast) - xq @ true_w) ** 2)
    meta_opt.apply_gradients([(test_tape.gradient(test_loss, w), w)])
    meta_losses.append(test_loss.numpy())
assert np.mean(meta_losses[-5:]) < np.mean(meta_losses[:5])
x = tf.constant([1.0, 2.0, 3.0])
with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0, 0.0])) as acc:
    z = tf.reduce_sum(tf.sin(x) * x)
np.testing.assert_allclose(acc.jvp(z).numpy(), np.cos(1.0) + np.sin(1.0), rtol=1e-5)
print("ok")
