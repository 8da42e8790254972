"""`tf.strings`, compared with recorded results of TensorFlow."""

import unisono.tf as tf
from tests.tf.recording import recorded


@recorded
def test_strings():
    words = tf.constant(["Hello", "wörld", ""])
    return {
        "join": [tf.strings.join(["a", "b"]), tf.strings.join([words, "x"], separator="-")],
        "reduce": [
            tf.strings.reduce_join(words, separator=","),
            tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=0),
        ],
        "split": [
            tf.strings.split("a b  c"),
            tf.strings.split("a/b/c", sep="/"),
            tf.strings.split("a,b,c", ",", maxsplit=1),
        ],
        "bytes": tf.strings.bytes_split("abc"),
        "letters": tf.strings.unicode_split("wö", "UTF-8"),
        "numbers": tf.strings.unicode_decode("wö", "UTF-8"),
        "encoded": tf.strings.unicode_encode([119, 246], "UTF-8"),
        "length": [tf.strings.length(words), tf.strings.length(words, unit="UTF8_CHAR")],
        "lower": [tf.strings.lower(words), tf.strings.upper(words), tf.strings.upper(words, encoding="utf-8")],
        "strip": tf.strings.strip(["  a b \n"]),
        "substr": [tf.strings.substr(words[:2], 1, 3), tf.strings.substr("hello", -3, 2)],
        "replace": [
            tf.strings.regex_replace("abcabc", "b", "X"),
            tf.strings.regex_replace("abcabc", "(b)c", r"<\1>", replace_global=False),
        ],
        "match": tf.strings.regex_full_match(["abc", "abcd"], "a.c"),
        "hash": tf.strings.to_hash_bucket_fast(["a", "hello", "x" * 20, "y" * 50, "z" * 100, ""], 1000),
    }


@recorded
def test_number_conversion():
    return {
        "floats": tf.strings.to_number(["1.5", "-2", "1e3"]),
        "ints": tf.strings.to_number(["12", "-7"], out_type=tf.int32),
        "one": tf.strings.to_number(tf.constant("3")),
        "as": [
            tf.strings.as_string([1, -2]),
            tf.strings.as_string([1.5, 0.25]),
            tf.strings.as_string([1.5], precision=2),
            tf.strings.as_string([1500.0], scientific=True, precision=1),
            tf.strings.as_string([True, False]),
            tf.strings.as_string([7], width=3, fill="0"),
        ],
        "format": tf.strings.format("x: {}, {}", (tf.constant([1.0, 2.5]), tf.constant(3))),
    }


@recorded
def test_text_in_tensors():
    words = tf.constant([["a", "b"], ["c", "d"]])
    return {
        "shape": [tf.shape(words), tf.size(words), tf.rank(words)],
        "moved": [tf.reshape(words, [4]), tf.transpose(words), tf.expand_dims(words, 0), tf.reverse(words, [0])],
        "parts": [words[0], tf.gather(words, [1]), tf.concat([words, words], 1), tf.stack([words[0], words[1]])],
        "chosen": tf.where([[True, False], [False, True]], words, "z"),
        "equal": [tf.equal(words, "c"), tf.not_equal(words, "c")],
        "unique": tf.unique(["x", "y", "x"]).y,
        "joined": tf.add("a", "b"),
        "empty": [tf.zeros([2], tf.string), tf.fill([2], "q")],
        "value": words[0, 1].numpy(),
    }
