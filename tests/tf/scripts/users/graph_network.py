"""A graph network on papers that cite each other: gather, segment sums, a model that holds the whole graph."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.RandomState(0)
num_nodes, num_features, num_classes = 60, 12, 3
classes = rng.randint(0, num_classes, num_nodes)
node_features = (rng.rand(num_nodes, num_features) < 0.2).astype("float64")
node_features[np.arange(num_nodes), classes] = 1
source = rng.randint(0, num_nodes, 240)
same = rng.rand(240) < 0.8
target = np.where(
    same, [rng.choice(np.where(classes == classes[s])[0]) for s in source], rng.randint(0, num_nodes, 240)
)
edges = np.stack([source, target])
edge_weights = tf.ones(shape=edges.shape[1])
node_features = tf.cast(node_features, dtype=tf.dtypes.float32)
graph_info = (node_features, edges, edge_weights)
print("Edges shape:", edges.shape, "Nodes shape:", node_features.shape)


def create_ffn(hidden_units, dropout_rate, name=None):
    fnn_layers = []
    for units in hidden_units:
        fnn_layers.append(layers.BatchNormalization())
        fnn_layers.append(layers.Dropout(dropout_rate))
        fnn_layers.append(layers.Dense(units, activation=tf.nn.gelu))
    return keras.Sequential(fnn_layers, name=name)


class GraphConvLayer(layers.Layer):
    def __init__(
        self, hidden_units, dropout_rate=0.1, aggregation_type="mean", combination_type="concat", *args, **kwargs
    ):
        super(GraphConvLayer, self).__init__(*args, **kwargs)
        self.aggregation_type = aggregation_type
        self.combination_type = combination_type
        self.ffn_prepare = create_ffn(hidden_units, dropout_rate)
        self.update_fn = create_ffn(hidden_units, dropout_rate)

    def prepare(self, node_repesentations, weights=None):
        messages = self.ffn_prepare(node_repesentations)
        if weights is not None:
            messages = messages * tf.expand_dims(weights, -1)
        return messages

    def aggregate(self, node_indices, neighbour_messages, node_repesentations):
        num_nodes = node_repesentations.shape[0]
        if self.aggregation_type == "sum":
            return tf.math.unsorted_segment_sum(neighbour_messages, node_indices, num_segments=num_nodes)
        elif self.aggregation_type == "mean":
            return tf.math.unsorted_segment_mean(neighbour_messages, node_indices, num_segments=num_nodes)
        elif self.aggregation_type == "max":
            return tf.math.unsorted_segment_max(neighbour_messages, node_indices, num_segments=num_nodes)
        raise ValueError(f"Invalid aggregation type: {self.aggregation_type}.")

    def call(self, inputs):
        node_repesentations, edges, edge_weights = inputs
        node_indices, neighbour_indices = edges[0], edges[1]
        neighbour_repesentations = tf.gather(node_repesentations, neighbour_indices)
        neighbour_messages = self.prepare(neighbour_repesentations, edge_weights)
        aggregated = self.aggregate(node_indices, neighbour_messages, node_repesentations)
        h = tf.concat([node_repesentations, aggregated], axis=1)
        node_embeddings = self.update_fn(h)
        return tf.nn.l2_normalize(node_embeddings, axis=-1)


class GNNNodeClassifier(tf.keras.Model):
    def __init__(self, graph_info, num_classes, hidden_units, dropout_rate=0.1, *args, **kwargs):
        super(GNNNodeClassifier, self).__init__(*args, **kwargs)
        node_features, edges, edge_weights = graph_info
        self.node_features = node_features
        self.edges = edges
        self.edge_weights = edge_weights
        if self.edge_weights is None:
            self.edge_weights = tf.ones(shape=edges.shape[1])
        self.edge_weights = self.edge_weights / tf.math.reduce_sum(self.edge_weights)
        self.preprocess = create_ffn(hidden_units, dropout_rate, name="preprocess")
        self.conv1 = GraphConvLayer(hidden_units, dropout_rate, name="graph_conv1")
        self.conv2 = GraphConvLayer(hidden_units, dropout_rate, aggregation_type="sum", name="graph_conv2")
        self.compute_logits = layers.Dense(units=num_classes, name="logits")

    def call(self, input_node_indices):
        x = self.preprocess(self.node_features)
        x1 = self.conv1((x, self.edges, self.edge_weights))
        x = x1 + x
        x2 = self.conv2((x, self.edges, self.edge_weights))
        x = x2 + x
        node_embeddings = tf.gather(x, input_node_indices)
        return self.compute_logits(node_embeddings)


x_train, x_test = np.arange(0, 40), np.arange(40, 60)
with tf.distribute.MirroredStrategy().scope():
    gnn_model = GNNNodeClassifier(graph_info=graph_info, num_classes=num_classes, hidden_units=[16])
    print("GNN output shape:", gnn_model([1, 10, 30]).shape)
    gnn_model.summary()
    gnn_model.compile(
        optimizer=keras.optimizers.Adam(0.01),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
    )
early_stopping = keras.callbacks.EarlyStopping(monitor="val_acc", patience=30, restore_best_weights=True)
history = gnn_model.fit(
    x=x_train, y=classes[x_train], epochs=20, batch_size=16, validation_split=0.2, callbacks=[early_stopping], verbose=0
)
_, test_accuracy = gnn_model.evaluate(x=x_test, y=classes[x_test], verbose=0)
print(f"Test accuracy: {round(test_accuracy * 100, 2)}%")
assert history.history["loss"][-1] < history.history["loss"][0]

# Neighbours by hand: sorted segments, scatter, unique.
degree = tf.math.bincount(edges[0], minlength=num_nodes, dtype=tf.float32)
order = tf.argsort(edges[0])
sorted_sum = tf.math.segment_sum(tf.gather(tf.ones(240), order), tf.gather(edges[0], order))
uniques, idx, counts = tf.unique_with_counts(tf.sort(tf.constant(edges[0])))
np.testing.assert_array_equal(counts.numpy(), degree.numpy()[uniques.numpy()])
assert float(tf.reduce_sum(sorted_sum)) == 240.0
adjacency = tf.scatter_nd(tf.transpose(edges), tf.ones(240), (num_nodes, num_nodes))
assert float(tf.reduce_sum(adjacency)) == 240.0
updated = tf.tensor_scatter_nd_add(tf.zeros(num_nodes), edges[0][:, None], tf.ones(240))
np.testing.assert_allclose(updated.numpy(), degree.numpy())
print("ok")
