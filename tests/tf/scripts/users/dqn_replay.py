# Deep Q-learning as people wrote it for Keras 2: a deque as memory, a target network, train_on_batch.
import random
from collections import deque

import numpy as np
from tensorflow import keras
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import Adam
import tensorflow as tf

random.seed(7)
np.random.seed(7)
tf.random.set_seed(7)


class GridWorld:
    """4 x 4; from the upper left to the lower right."""

    size = 4

    def reset(self):
        self.pos = [0, 0]
        self.t = 0
        return self.obs()

    def obs(self):
        s = np.zeros(8, dtype=np.float64)
        s[self.pos[0]] = 1
        s[4 + self.pos[1]] = 1
        return s

    def step(self, a):
        d = [(0, 1), (1, 0), (0, -1), (-1, 0)][a]
        self.pos = [min(3, max(0, self.pos[0] + d[0])), min(3, max(0, self.pos[1] + d[1]))]
        self.t += 1
        win = self.pos == [3, 3]
        return self.obs(), (1.0 if win else -0.02), win or self.t > 30, {}


class DQNAgent:
    def __init__(self, state_size, action_size):
        self.state_size = state_size
        self.action_size = action_size
        self.memory = deque(maxlen=1000)
        self.gamma = 0.95
        self.epsilon = 1.0
        self.epsilon_min = 0.05
        self.epsilon_decay = 0.9
        self.learning_rate = 0.01
        self.model = self._build_model()
        self.target_model = self._build_model()
        self.update_target_model()

    def _build_model(self):
        model = Sequential()
        model.add(Dense(24, input_dim=self.state_size, activation="relu"))
        model.add(Dense(24, activation="relu"))
        model.add(Dense(self.action_size, activation="linear"))
        model.compile(loss=tf.keras.losses.Huber(), optimizer=Adam(lr=self.learning_rate))
        return model

    def update_target_model(self):
        self.target_model.set_weights(self.model.get_weights())

    def memorize(self, *transition):
        self.memory.append(transition)

    def act(self, state):
        if np.random.rand() <= self.epsilon:
            return random.randrange(self.action_size)
        act_values = self.model.predict_on_batch(state)
        return np.argmax(act_values[0])

    def replay(self, batch_size):
        minibatch = random.sample(self.memory, batch_size)
        states = np.vstack([m[0] for m in minibatch])
        next_states = np.vstack([m[3] for m in minibatch])
        target = self.model.predict_on_batch(states)
        future = self.target_model(next_states, training=False).numpy()
        target = np.array(target)
        for i, (_, action, reward, _, done) in enumerate(minibatch):
            target[i][action] = reward if done else reward + self.gamma * np.amax(future[i])
        loss = self.model.train_on_batch(states, target)
        if self.epsilon > self.epsilon_min:
            self.epsilon *= self.epsilon_decay
        return loss

    def load(self, name):
        self.model.load_weights(name)

    def save(self, name):
        self.model.save_weights(name)


strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    agent = DQNAgent(8, 4)
env = GridWorld()
batch_size = 32
scores = []
for e in range(60):
    state = np.reshape(env.reset(), [1, 8])
    for time in range(40):
        action = agent.act(state)
        next_state, reward, done, _ = env.step(action)
        next_state = np.reshape(next_state, [1, 8])
        agent.memorize(state, action, reward, next_state, done)
        state = next_state
        if done:
            agent.update_target_model()
            break
        if len(agent.memory) > batch_size and time % 3 == 0:
            agent.replay(batch_size)
    scores.append(time + 1)
print("steps per episode: first ten {}, last ten {}".format(np.mean(scores[:10]), np.mean(scores[-10:])))
assert np.mean(scores[-10:]) < 12
agent.save("dqn.weights.h5")
before = agent.model.get_weights()
agent.model.set_weights([np.zeros_like(w) for w in before])
agent.load("dqn.weights.h5")
for a, b in zip(before, agent.model.get_weights()):
    np.testing.assert_array_equal(a, b)


# The same update with a tape and a mask, as the keras.io example has it.
optimizer = keras.optimizers.Adam(learning_rate=0.00025, clipnorm=1.0)
loss_function = keras.losses.Huber()
state_sample = np.vstack([m[0] for m in list(agent.memory)[:32]])
updated_q_values = tf.reduce_max(agent.target_model(state_sample), axis=1)
masks = tf.one_hot([m[1] for m in list(agent.memory)[:32]], 4)
with tf.GradientTape() as tape:
    q_values = agent.model(state_sample)
    q_action = tf.reduce_sum(tf.multiply(q_values, masks), axis=1)
    loss = loss_function(updated_q_values, q_action)
grads = tape.gradient(loss, agent.model.trainable_variables)
with strategy.scope():
    optimizer.apply_gradients(zip(grads, agent.model.trainable_variables))
print("ok")
