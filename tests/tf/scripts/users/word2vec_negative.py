"""Skip-grams with negative sampling, from a text file to vectors in a TSV."""

import io
import itertools
import re
import string

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SEED = 42
AUTOTUNE = tf.data.AUTOTUNE
sentence = "The wide road shimmered in the hot sun"
tokens = list(sentence.lower().split())
vocab, index = {}, 1
vocab["<pad>"] = 0
for token in tokens:
    if token not in vocab:
        vocab[token] = index
        index += 1
vocab_size = len(vocab)
example_sequence = [vocab[word] for word in tokens]
positive_skip_grams, _ = tf.keras.preprocessing.sequence.skipgrams(
    example_sequence, vocabulary_size=vocab_size, window_size=2, negative_samples=0
)
print(len(positive_skip_grams))
target_word, context_word = positive_skip_grams[0]
num_ns = 4
context_class = tf.reshape(tf.constant(context_word, dtype="int64"), (1, 1))
negative_sampling_candidates, _, _ = tf.random.log_uniform_candidate_sampler(
    true_classes=context_class,
    num_true=1,
    num_sampled=num_ns,
    unique=True,
    range_max=vocab_size,
    seed=SEED,
    name="negative_sampling",
)
print(negative_sampling_candidates)
squeezed_context_class = tf.squeeze(context_class, 1)
context = tf.concat([squeezed_context_class, negative_sampling_candidates], 0)
label = tf.constant([1] + [0] * num_ns, dtype="int64")
assert context.shape == label.shape


def generate_training_data(sequences, window_size, num_ns, vocab_size, seed):
    targets, contexts, labels = [], [], []
    sampling_table = tf.keras.preprocessing.sequence.make_sampling_table(vocab_size, sampling_factor=0.1)
    for sequence in sequences:
        positive_skip_grams, _ = tf.keras.preprocessing.sequence.skipgrams(
            sequence,
            vocabulary_size=vocab_size,
            sampling_table=sampling_table,
            window_size=window_size,
            negative_samples=0,
        )
        for target_word, context_word in positive_skip_grams:
            context_class = tf.expand_dims(tf.constant([context_word], dtype="int64"), 1)
            negatives, _, _ = tf.random.log_uniform_candidate_sampler(
                true_classes=context_class,
                num_true=1,
                num_sampled=num_ns,
                unique=True,
                range_max=vocab_size,
                seed=seed,
            )
            context = tf.concat([tf.squeeze(context_class, 1), negatives], 0)
            targets.append(target_word)
            contexts.append(context)
            labels.append(tf.constant([1] + [0] * num_ns, dtype="int64"))
    return targets, contexts, labels


lines = ["The cat sat, on the mat.", "A dog sat on the log!", "", "The cat and the dog ran.", "Birds sang in a tree."]
with open("shakes.txt", "w") as f:
    f.write("\n".join(lines * 3))
text_ds = tf.data.TextLineDataset("shakes.txt").filter(lambda x: tf.cast(tf.strings.length(x), bool))


def custom_standardization(input_data):
    lowercase = tf.strings.lower(input_data)
    return tf.strings.regex_replace(lowercase, "[%s]" % re.escape(string.punctuation), "")


vocab_size, sequence_length = 32, 6
vectorize_layer = layers.TextVectorization(
    standardize=custom_standardization,
    max_tokens=vocab_size,
    output_mode="int",
    output_sequence_length=sequence_length,
)
vectorize_layer.adapt(text_ds.batch(1024))
inverse_vocab = vectorize_layer.get_vocabulary()
print(inverse_vocab[:10])
text_vector_ds = text_ds.batch(1024).prefetch(AUTOTUNE).map(vectorize_layer).unbatch()
sequences = list(text_vector_ds.as_numpy_iterator())
for seq in sequences[:2]:
    print(f"{seq} => {[inverse_vocab[i] for i in seq]}")
targets, contexts, labels = generate_training_data(sequences, 2, num_ns, vocab_size, SEED)
targets, contexts, labels = np.array(targets), np.array(contexts), np.array(labels)
print("targets.shape:", targets.shape, "contexts.shape:", contexts.shape)
BATCH_SIZE = 32
dataset = tf.data.Dataset.from_tensor_slices(((targets, contexts), labels))
dataset = dataset.shuffle(1000).batch(BATCH_SIZE, drop_remainder=True).cache().prefetch(buffer_size=AUTOTUNE)


class Word2Vec(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim):
        super(Word2Vec, self).__init__()
        self.target_embedding = layers.Embedding(vocab_size, embedding_dim, name="w2v_embedding")
        self.context_embedding = layers.Embedding(vocab_size, embedding_dim)

    def call(self, pair):
        target, context = pair
        if len(target.shape) == 2:
            target = tf.squeeze(target, axis=1)
        word_emb = self.target_embedding(target)
        context_emb = self.context_embedding(context)
        dots = tf.einsum("be,bce->bc", word_emb, context_emb)
        return dots


with tf.distribute.MirroredStrategy().scope():
    word2vec = Word2Vec(vocab_size, 8)
    word2vec.compile(
        optimizer=tf.keras.optimizers.Adam(0.02),
        loss=tf.keras.losses.CategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
tensorboard_callback = tf.keras.callbacks.TensorBoard(log_dir="logs")
history = word2vec.fit(dataset, epochs=6, callbacks=[tensorboard_callback], verbose=2)
assert history.history["loss"][-1] < history.history["loss"][0]
weights = word2vec.get_layer("w2v_embedding").get_weights()[0]
out_v = io.open("vectors.tsv", "w", encoding="utf-8")
out_m = io.open("metadata.tsv", "w", encoding="utf-8")
for index, word in itertools.islice(enumerate(inverse_vocab), 1, None):
    out_v.write("\t".join([str(x) for x in weights[index]]) + "\n")
    out_m.write(word + "\n")
out_v.close()
out_m.close()


# The older way: noise-contrastive estimation on variables.
embeddings = tf.Variable(tf.random.uniform([vocab_size, 8], -1.0, 1.0))
nce_weights = tf.Variable(tf.random.truncated_normal([vocab_size, 8], stddev=1.0 / np.sqrt(8)))
nce_biases = tf.Variable(tf.zeros([vocab_size]))
opt = tf.optimizers.SGD(0.5)
nce = []
for _ in range(15):
    with tf.GradientTape() as tape:
        embed = tf.nn.embedding_lookup(embeddings, targets[:64])
        loss = tf.reduce_mean(
            tf.nn.nce_loss(
                weights=nce_weights,
                biases=nce_biases,
                labels=contexts[:64, :1],
                inputs=embed,
                num_sampled=8,
                num_classes=vocab_size,
            )
        )
    grads = tape.gradient(loss, [embeddings, nce_weights, nce_biases])
    opt.apply_gradients(zip(grads, [embeddings, nce_weights, nce_biases]))
    nce.append(loss.numpy())
assert nce[-1] < nce[0]
print("ok")
