"""Neural style transfer: an extractor over the layers of a frozen network, Gram matrices, an image as a variable."""

import functools
import time

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)


def make_vgg_like():
    inp = tf.keras.Input((None, None, 3))
    x = inp
    for block in (1, 2):
        for conv in (1, 2):
            name = "block%d_conv%d" % (block, conv)
            x = tf.keras.layers.Conv2D(8 * block, 3, padding="same", activation="relu", name=name)(x)
        x = tf.keras.layers.MaxPool2D(name="block%d_pool" % block)(x)
    return tf.keras.Model(inp, x, name="vgg_like")


def clip_0_1(image):
    return tf.clip_by_value(image, clip_value_min=0.0, clip_value_max=1.0)


def load_img(array):
    img = tf.image.convert_image_dtype(tf.constant(array, tf.uint8), tf.float32)
    shape = tf.cast(tf.shape(img)[:-1], tf.float32)
    long_dim = max(shape)
    scale = 24 / long_dim
    new_shape = tf.cast(shape * scale, tf.int32)
    img = tf.image.resize(img, new_shape)
    return img[tf.newaxis, :]


content_image = load_img(rng.randint(0, 255, (40, 30, 3)))
style_image = load_img(np.kron(np.indices((6, 6)).sum(0) % 2, np.ones((5, 5)))[..., None] * [255, 128, 0])
print(content_image.shape, style_image.shape)
content_layers = ["block2_conv2"]
style_layers = ["block1_conv1", "block2_conv1"]
num_content_layers = len(content_layers)
num_style_layers = len(style_layers)

vgg_full = make_vgg_like()
for layer in vgg_full.layers:
    print(layer.name)


def vgg_layers(layer_names):
    vgg_full.trainable = False
    outputs = [vgg_full.get_layer(name).output for name in layer_names]
    return tf.keras.Model([vgg_full.input], outputs)


def gram_matrix(input_tensor):
    result = tf.linalg.einsum("bijc,bijd->bcd", input_tensor, input_tensor)
    input_shape = tf.shape(input_tensor)
    num_locations = tf.cast(input_shape[1] * input_shape[2], tf.float32)
    return result / (num_locations)


class StyleContentModel(tf.keras.models.Model):
    def __init__(self, style_layers, content_layers):
        super(StyleContentModel, self).__init__()
        self.vgg = vgg_layers(style_layers + content_layers)
        self.style_layers = style_layers
        self.content_layers = content_layers
        self.num_style_layers = len(style_layers)
        self.vgg.trainable = False

    def call(self, inputs):
        inputs = inputs * 255.0
        preprocessed_input = (inputs - [123.0, 116.0, 103.0]) / 64.0
        outputs = self.vgg(preprocessed_input)
        style_outputs, content_outputs = (outputs[: self.num_style_layers], outputs[self.num_style_layers :])
        style_outputs = [gram_matrix(style_output) for style_output in style_outputs]
        content_dict = {name: value for name, value in zip(self.content_layers, content_outputs)}
        style_dict = {name: value for name, value in zip(self.style_layers, style_outputs)}
        return {"content": content_dict, "style": style_dict}


extractor = StyleContentModel(style_layers, content_layers)
results = extractor(tf.constant(content_image))
for name, output in sorted(results["style"].items()):
    print("  ", name, "shape:", output.numpy().shape, "mean:", output.numpy().mean())
style_targets = extractor(style_image)["style"]
content_targets = extractor(content_image)["content"]
image = tf.Variable(content_image)
opt = tf.keras.optimizers.Adam(learning_rate=0.02, beta_1=0.99, epsilon=1e-1)
style_weight, content_weight, total_variation_weight = 1e-2, 1e4, 30


def style_content_loss(outputs):
    style_outputs = outputs["style"]
    content_outputs = outputs["content"]
    style_loss = tf.add_n(
        [tf.reduce_mean((style_outputs[name] - style_targets[name]) ** 2) for name in style_outputs.keys()]
    )
    style_loss *= style_weight / num_style_layers
    content_loss = tf.add_n(
        [tf.reduce_mean((content_outputs[name] - content_targets[name]) ** 2) for name in content_outputs.keys()]
    )
    content_loss *= content_weight / num_content_layers
    return style_loss + content_loss


def high_pass_x_y(image):
    x_var = image[:, :, 1:, :] - image[:, :, :-1, :]
    y_var = image[:, 1:, :, :] - image[:, :-1, :, :]
    return x_var, y_var


x_deltas, y_deltas = high_pass_x_y(content_image)
assert float(tf.reduce_mean(tf.abs(x_deltas))) > 0 and y_deltas.shape[1] == content_image.shape[1] - 1


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        outputs = extractor(image)
        loss = style_content_loss(outputs)
        loss += total_variation_weight * tf.image.total_variation(image)
    grad = tape.gradient(loss, image)
    opt.apply_gradients([(grad, image)])
    image.assign(clip_0_1(image))
    return loss


start = time.time()
losses = []
for n in range(2):
    for m in range(10):
        losses.append(functools.reduce(lambda a, b: a + b, train_step(image).numpy().ravel()))
        print(".", end="", flush=True)
    print("Train step: {}".format((n + 1) * 10))
print("Total time: {:.1f}".format(time.time() - start), losses[0], losses[-1])
assert losses[-1] < losses[0]
sobel = tf.image.sobel_edges(content_image)
assert sobel.shape[-1] == 2 and np.abs(image.numpy() - content_image.numpy()).max() > 0
print("ok")
