"""Architectures: the layers of each network, in forward order."""

from profiles.layers import batch_norm, conv, dense, layer, layer_norm, lstm, shrink, shrink_up


def alexnet():
    x, layers = (3, 227), []
    for name, out, kernel, stride, pad, groups, pooled in [
            ("conv1", 96, 11, 4, 0, 1, True), ("conv2", 256, 5, 1, 2, 2, True),
            ("conv3", 384, 3, 1, 1, 1, False), ("conv4", 384, 3, 1, 1, 2, False),
            ("conv5", 256, 3, 1, 1, 2, True)]:
        made, x = conv(name, x, out, kernel, stride, pad, groups)
        layers.append(made)
        if pooled:
            x = (out, shrink(x[1], 3, 2, 0))
    return layers + [dense("fc6", x[0] * x[1]**2, 4096), dense("fc7", 4096, 4096),
                     dense("fc8", 4096, 1000)]


def vgg(depths):
    x, layers = (3, 224), []
    for stage, (convs, out) in enumerate(zip(depths, (64, 128, 256, 512, 512)), 1):
        for i in range(1, convs + 1):
            made, x = conv(f"conv{stage}_{i}", x, out, 3, pad=1)
            layers.append(made)
        x = (out, shrink(x[1], 2, 2, 0))
    return layers + [dense("fc6", x[0] * x[1]**2, 4096), dense("fc7", 4096, 4096),
                     dense("fc8", 4096, 1000)]


def vgg_a():
    return vgg((1, 1, 2, 2, 2))


def vgg_16():
    return vgg((2, 2, 3, 3, 3))


def googlenet():
    layers = []

    def add(name, x, out, kernel, stride=1):
        made, x = conv(name, x, out, kernel, stride, kernel // 2)
        layers.append(made)
        return x

    x = add("conv1", (3, 224), 64, 7, 2)
    x = add("conv2_reduce", (64, shrink_up(x[1], 3, 2)), 64, 1)
    x = add("conv2", x, 192, 3)
    x = (192, shrink_up(x[1], 3, 2))
    for name, one, reduce_3, three, reduce_5, five, pooled in [
            ("3a", 64, 96, 128, 16, 32, 32), ("3b", 128, 128, 192, 32, 96, 64),
            ("4a", 192, 96, 208, 16, 48, 64), ("4b", 160, 112, 224, 24, 64, 64),
            ("4c", 128, 128, 256, 24, 64, 64), ("4d", 112, 144, 288, 32, 64, 64),
            ("4e", 256, 160, 320, 32, 128, 128), ("5a", 256, 160, 320, 32, 128, 128),
            ("5b", 384, 192, 384, 48, 128, 128)]:
        if name in ("4a", "5a"):
            x = (x[0], shrink_up(x[1], 3, 2))
        add(f"inception_{name}.1x1", x, one, 1)
        add(f"inception_{name}.3x3", add(f"inception_{name}.3x3_reduce", x, reduce_3, 1), three, 3)
        add(f"inception_{name}.5x5", add(f"inception_{name}.5x5_reduce", x, reduce_5, 1), five, 5)
        add(f"inception_{name}.pool", x, pooled, 1)
        x = (one + three + five + pooled, x[1])
    return layers + [dense("fc", x[0], 1000)]


def inception_v3():
    layers = []

    def add(name, x, out, kernel, stride=1, pad=0):
        made, x = conv(f"{name}.conv", x, out, kernel, stride, pad, bias=False)
        layers.extend([made, batch_norm(f"{name}.bn", out)])
        return x

    def chain(prefix, x, *steps):
        for name, *how in steps:
            x = add(f"{prefix}.{name}", x, *how)
        return x

    def block_a(name, x, pooled):  # 35 x 35
        chain(name, x, ("branch1x1", 64, 1))
        chain(name, x, ("branch5x5_1", 48, 1), ("branch5x5_2", 64, 5, 1, 2))
        chain(name, x, ("branch3x3dbl_1", 64, 1), ("branch3x3dbl_2", 96, 3, 1, 1),
              ("branch3x3dbl_3", 96, 3, 1, 1))
        chain(name, x, ("branch_pool", pooled, 1))
        return 64 + 64 + 96 + pooled, x[1]

    def block_b(name, x):  # to 17 x 17
        side = chain(name, x, ("branch3x3", 384, 3, 2))[1]
        chain(name, x, ("branch3x3dbl_1", 64, 1), ("branch3x3dbl_2", 96, 3, 1, 1),
              ("branch3x3dbl_3", 96, 3, 2))
        return 384 + 96 + x[0], side

    def block_c(name, x, w):  # 17 x 17
        chain(name, x, ("branch1x1", 192, 1))
        chain(name, x, ("branch7x7_1", w, 1), ("branch7x7_2", w, (1, 7)),
              ("branch7x7_3", 192, (7, 1)))
        chain(name, x, ("branch7x7dbl_1", w, 1), ("branch7x7dbl_2", w, (7, 1)),
              ("branch7x7dbl_3", w, (1, 7)), ("branch7x7dbl_4", w, (7, 1)),
              ("branch7x7dbl_5", 192, (1, 7)))
        chain(name, x, ("branch_pool", 192, 1))
        return 768, x[1]

    def block_d(name, x):  # to 8 x 8
        side = chain(name, x, ("branch3x3_1", 192, 1), ("branch3x3_2", 320, 3, 2))[1]
        chain(name, x, ("branch7x7x3_1", 192, 1), ("branch7x7x3_2", 192, (1, 7)),
              ("branch7x7x3_3", 192, (7, 1)), ("branch7x7x3_4", 192, 3, 2))
        return 320 + 192 + x[0], side

    def block_e(name, x):  # 8 x 8
        chain(name, x, ("branch1x1", 320, 1))
        split = chain(name, x, ("branch3x3_1", 384, 1))
        for half, kernel in (("2a", (1, 3)), ("2b", (3, 1))):
            chain(name, split, (f"branch3x3_{half}", 384, kernel))
        split = chain(name, x, ("branch3x3dbl_1", 448, 1), ("branch3x3dbl_2", 384, 3, 1, 1))
        for half, kernel in (("3a", (1, 3)), ("3b", (3, 1))):
            chain(name, split, (f"branch3x3dbl_{half}", 384, kernel))
        chain(name, x, ("branch_pool", 192, 1))
        return 2048, x[1]

    x = add("Conv2d_1a_3x3", (3, 299), 32, 3, 2)
    x = add("Conv2d_2b_3x3", add("Conv2d_2a_3x3", x, 32, 3), 64, 3, 1, 1)
    x = add("Conv2d_3b_1x1", (64, shrink(x[1], 3, 2, 0)), 80, 1)
    x = add("Conv2d_4a_3x3", x, 192, 3)
    x = (192, shrink(x[1], 3, 2, 0))
    for name, pooled in (("Mixed_5b", 32), ("Mixed_5c", 64), ("Mixed_5d", 64)):
        x = block_a(name, x, pooled)
    x = block_b("Mixed_6a", x)
    for name, w in (("Mixed_6b", 128), ("Mixed_6c", 160), ("Mixed_6d", 160), ("Mixed_6e", 192)):
        x = block_c(name, x, w)
    pooled = chain("AuxLogits", (768, shrink(x[1], 5, 3, 0)), ("conv0", 128, 1), ("conv1", 768, 5))
    layers.append(dense("AuxLogits.fc", pooled[0] * pooled[1]**2, 1000))
    x = block_e("Mixed_7c", block_e("Mixed_7b", block_d("Mixed_7a", x)))
    return layers + [dense("fc", x[0], 1000)]


def conv_bn(conv_name, bn_name, x, out, kernel, stride=1):
    made, x = conv(conv_name, x, out, kernel, stride, kernel // 2, bias=False)
    return [made, batch_norm(bn_name, out)], x


def residual_stage(stage, x, blocks, kernels, widths, stride, project):
    """Returns blocks of len(kernels) convolutions; the first 3 x 3 of the stage has the stride."""
    layers = []
    for block in range(blocks):
        prefix, entry = f"layer{stage}.{block}", x
        step = stride if block == 0 else 1
        for i, (kernel, width) in enumerate(zip(kernels, widths), 1):
            strided = step if i == kernels.index(3) + 1 else 1
            made, x = conv_bn(f"{prefix}.conv{i}", f"{prefix}.bn{i}", x, width, kernel, strided)
            layers += made
        if project and block == 0:
            layers += conv_bn(f"{prefix}.downsample.0", f"{prefix}.downsample.1",
                              entry, widths[-1], 1, step)[0]
    return layers, x


def bottleneck_resnet(depths):
    layers, x = conv_bn("conv1", "bn1", (3, 224), 64, 7, 2)
    x = (64, shrink(x[1], 3, 2, 1))
    for stage, (blocks, w) in enumerate(zip(depths, (64, 128, 256, 512)), 1):
        made, x = residual_stage(stage, x, blocks, (1, 3, 1), (w, w, 4 * w),
                                 1 if stage == 1 else 2, project=True)
        layers += made
    return layers + [dense("fc", 2048, 1000)]


def resnet_50():
    return bottleneck_resnet((3, 4, 6, 3))


def resnet_101():
    return bottleneck_resnet((3, 4, 23, 3))


def resnet_152():
    return bottleneck_resnet((3, 8, 36, 3))


def resnet_110():
    layers, x = conv_bn("conv1", "bn1", (3, 32), 16, 3)
    for stage, w in enumerate([16, 32, 64], 1):
        made, x = residual_stage(stage, x, 18, (3, 3), (w, w),
                                 1 if stage == 1 else 2, project=False)
        layers += made
    return layers + [dense("fc", 64, 10)]


def ptb_lstm():
    # The tied matrix belongs to the first layer: its gradient is complete only when the backward
    # pass has reached the embedding.
    vocabulary, hidden = 10000, 1500
    return [
        layer("embedding", 0, "a look-up; the matrix is also the decoder's",
              weight=(vocabulary, hidden)),
        lstm("lstm1", hidden, hidden),
        lstm("lstm2", hidden, hidden),
        layer("decoder", vocabulary * hidden,
              f"derived: {vocabulary} outputs x {hidden}; weight tied, stored in embedding",
              bias=(vocabulary,)),
    ]


def deepspeech():
    # One second of audio: 100 frames of 161 frequencies, halved in time by the first convolution.
    frequencies, channels, steps, hidden = 161, 1, 50, 1200
    layers = []
    for i, (out, kernel) in enumerate([(32, (41, 11)), (32, (21, 11)), (96, (21, 11))], 1):
        frequencies = shrink(frequencies, kernel[0], 2, kernel[0] // 2)
        work = out * frequencies * steps * channels * kernel[0] * kernel[1]
        source = (f"derived: {out} x {frequencies} x {steps} outputs x {channels} x {kernel[0]} x "
                  f"{kernel[1]}")
        layers += [layer(f"conv{i}", work, source, weight=(out, channels, *kernel)),
                   batch_norm(f"conv{i}.bn", out)]
        channels = out
    inputs, gates = channels * frequencies, 3 * hidden
    for i in range(1, 8):
        if i > 1:
            layers.append(batch_norm(f"gru{i}.bn", inputs))
        source = f"derived: {steps} x 2 x ({gates} x {inputs} + {gates} x {hidden})"
        shapes = {f"{tensor}{way}": shape for way in ("", "_reverse") for tensor, shape in
                  (("weight_ih", (gates, inputs)), ("weight_hh", (gates, hidden)),
                   ("bias_ih", (gates,)), ("bias_hh", (gates,)))}
        layers.append(layer(f"gru{i}", steps * 2 * gates * (inputs + hidden), source, **shapes))
        inputs = hidden  # the two directions are summed
    return layers + [batch_norm("fc.bn", hidden),
                     layer("fc", steps * 29 * hidden, f"derived: {steps} x 29 outputs x {hidden}",
                           weight=(29, hidden))]


def bert(blocks, width):
    # A sequence of 128 tokens. The decoder's matrix is the word embedding, as in ptb_lstm.
    vocabulary, inner, tokens, masked = 30522, 4 * width, 128, 20
    layers = [layer("embeddings", 0, "look-ups; the word matrix is also the decoder's",
                    word=(vocabulary, width), position=(512, width), token_type=(2, width)),
              layer_norm("embeddings.norm", width)]
    for i in range(blocks):
        at = f"layer.{i}"
        layers += [dense(f"{at}.{name}", width, width, tokens) for name in ("query", "key", "value")]
        layers += [layer(f"{at}.attention", 2 * tokens**2 * width,
                         f"derived: scores and weighted values, 2 x {tokens} x {tokens} x {width}"),
                   dense(f"{at}.output", width, width, tokens), layer_norm(f"{at}.norm1", width),
                   dense(f"{at}.inner", width, inner, tokens),
                   dense(f"{at}.outer", inner, width, tokens), layer_norm(f"{at}.norm2", width)]
    decoder = (f"derived: {masked} x {vocabulary} outputs x {width}; weight tied, stored in "
               "embeddings")
    return layers + [dense("pooler", width, width), dense("next_sentence", width, 2),
                     dense("masked.transform", width, width, masked),
                     layer_norm("masked.norm", width),
                     layer("masked.decoder", masked * vocabulary * width, decoder,
                           bias=(vocabulary,))]


def bert_base():
    return bert(12, 768)


def bert_large():
    return bert(24, 1024)


def transformer_big():
    # One target token and one source token.
    vocabulary, width, inner = 32768, 1024, 4096

    def attention(at):
        return [dense(f"{at}.{name}", width, width) for name in ("query", "key", "value", "output")
                ] + [layer_norm(f"{at}.norm", width)]

    def feed_forward(at):
        return [dense(f"{at}.inner", width, inner), dense(f"{at}.outer", inner, width),
                layer_norm(f"{at}.norm", width)]

    layers = [layer("embedding", 0, "look-ups; one matrix for source, target and decoder",
                    weight=(vocabulary, width))]
    for i in range(6):
        at = f"encoder.{i}"
        layers += attention(f"{at}.self") + feed_forward(f"{at}.feed_forward")
    for i in range(6):
        at = f"decoder.{i}"
        layers += (attention(f"{at}.self") + attention(f"{at}.cross") +
                   feed_forward(f"{at}.feed_forward"))
    return layers + [layer("decoder", vocabulary * width, f"derived: {vocabulary} outputs x "
                           f"{width}; weight tied, stored in embedding")]


def vit_b_16():
    # 14 x 14 patches and the class token.
    width, inner, patches = 768, 3072, 14 * 14
    tokens = patches + 1
    embedding, _ = conv("conv_proj", (3, 224), width, 16, stride=16)
    layers = [layer("class_token", 0, "no product", weight=(1, 1, width)), embedding,
              layer("encoder.pos_embedding", 0, "no product", weight=(1, tokens, width))]
    for i in range(12):
        at = f"encoder.layers.encoder_layer_{i}"
        layers += [layer_norm(f"{at}.ln_1", width),
                   dense(f"{at}.self_attention.in_proj", width, 3 * width, tokens),
                   layer(f"{at}.self_attention.scores", 2 * tokens**2 * width,
                         f"derived: scores and weighted values, 2 x {tokens} x {tokens} x {width}"),
                   dense(f"{at}.self_attention.out_proj", width, width, tokens),
                   layer_norm(f"{at}.ln_2", width), dense(f"{at}.mlp.0", width, inner, tokens),
                   dense(f"{at}.mlp.3", inner, width, tokens)]
    return layers + [layer_norm("encoder.ln", width), dense("heads.head", width, 1000)]


def decoder(layers, width, heads, vocabulary, context, inner=None, key_value_heads=None, tied=True,
            mlp="gelu", norm="layer", positions="learned", biases=True):
    """Returns the layers of a decoder by its sizes: another derivation of what models/decoder.cpp makes of them.

    A file holds the sizes alone. The layers serve to check them against the published totals."""
    inner = inner or 4 * width
    keys = width // heads * (key_value_heads or heads)

    def normalization(name):
        shapes = {"weight": (width,)} | ({"bias": (width,)} if norm == "layer" and biases else {})
        return layer(name, 0, "not counted", **shapes)

    def matrix(name, inputs, out, with_bias=biases, stored=True):
        shapes = {"weight": (inputs, out)} if stored else {}
        return layer(name, context * inputs * out, f"derived: {context} x {out} outputs x {inputs}",
                     **shapes, **({"bias": (out,)} if with_bias else {}))

    made = [layer("wte", 0, "look-ups", weight=(vocabulary, width))]
    if positions == "learned":
        made.append(layer("wpe", 0, "look-ups", weight=(context, width)))
    into = ["gate", "up"] if mlp == "swiglu" else ["c_fc"]
    out_of = "down" if mlp == "swiglu" else "c_proj"
    for i in range(layers):
        made += [normalization(f"h.{i}.ln_1"),
                 matrix(f"h.{i}.attn.c_attn", width, width + 2 * keys),
                 layer(f"h.{i}.attn.scores", 2 * context**2 * width, "derived"),
                 matrix(f"h.{i}.attn.c_proj", width, width), normalization(f"h.{i}.ln_2"),
                 *(matrix(f"h.{i}.mlp.{name}", width, inner) for name in into),
                 matrix(f"h.{i}.mlp.{out_of}", inner, width)]
    return made + [normalization("ln_f"),
                   matrix("lm_head", width, vocabulary, with_bias=False, stored=not tied)]


def gpt2(layers, width, heads):
    return {"layers": layers, "width": width, "heads": heads, "vocabulary": 50257, "context": 1024}


def llama(layers, width, heads, key_value_heads, inner):
    return {"layers": layers, "width": width, "heads": heads, "key_value_heads": key_value_heads,
            "vocabulary": 32000, "context": 2048, "inner": inner, "mlp": "swiglu", "norm": "rms",
            "positions": "rotary", "biases": False, "tied": False}
