#!/usr/bin/env python3
"""Writes models/profiles/*.json: published networks as the simulated clock sees them.

A profile lists a network's layers in forward order: the gradient tensors each produces and the
multiply-accumulates (MACs) of one sample's forward pass. Both are derived here from the
architecture and checked against published totals before anything is written.

    tools/make_profiles.py                 rewrite the files
    tools/make_profiles.py --check         exit 1 and name each file that differs
    tools/make_profiles.py --efficiency    print the share of a device's peak that each net reaches

MACs count convolutions and matrix products only; biases, normalization, activations, pooling and
embedding lookups count as zero.
"""

import json
import math
import re
import statistics
import sys
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent / "models"
PROFILES = MODELS / "profiles"

# ---------------------------------------------------------------------------------------------
# Layers. A feature map is (channels, side).


def layer(name, macs, source, **shapes):
    tensors = [{"name": tensor, "shape": list(shape)} for tensor, shape in shapes.items()]
    return {"name": name, "macs": macs, "source": source, "tensors": tensors}


def shrink(side, kernel, stride, pad):
    return (side + 2 * pad - kernel) // stride + 1


def shrink_up(side, kernel, stride):
    """Returns the output size of pooling without padding whose last window may overhang, as in Caffe."""
    return -(-(side - kernel) // stride) + 1


def conv(name, x, out, kernel, stride=1, pad=0, groups=1, bias=True):
    """Returns the layer of a convolution on x, square or "same" (height, width), and its output."""
    channels = x[0] // groups
    if isinstance(kernel, int):
        height, width, side = kernel, kernel, shrink(x[1], kernel, stride, pad)
    else:
        (height, width), side = kernel, x[1]
    shapes = {"weight": (out, channels, height, width)} | ({"bias": (out,)} if bias else {})
    source = f"derived: {out} x {side} x {side} outputs x {channels} x {height} x {width}"
    return layer(name, out * side**2 * channels * height * width, source, **shapes), (out, side)


def batch_norm(name, channels):
    return layer(name, 0, "batch norm: not counted", weight=(channels,), bias=(channels,))


def layer_norm(name, width):
    return layer(name, 0, "layer norm: not counted", weight=(width,), bias=(width,))


def dense(name, inputs, out, times=1):
    source = f"derived: {f'{times} x ' if times > 1 else ''}{out} outputs x {inputs}"
    return layer(name, times * out * inputs, source, weight=(out, inputs), bias=(out,))


def lstm(name, inputs, hidden):
    gates = 4 * hidden
    source = f"derived: {gates} x {inputs} + {gates} x {hidden}"
    return layer(name, gates * (inputs + hidden), source,
                 weight_ih=(gates, inputs), weight_hh=(gates, hidden),
                 bias_ih=(gates,), bias_hh=(gates,))


# ---------------------------------------------------------------------------------------------
# Architectures.


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


# ---------------------------------------------------------------------------------------------
# Sources and measurements.

DGC = "Lin et al., Deep Gradient Compression, ICLR 2018"
BYTE_MODEL = ("nominal bytes derived: 6 B x 0.001 of the elements of tensors with two or more "
              "dimensions + 4 B per element of the 1-D tensors")
IMAGENET = {"name": "ImageNet-1k", "samples": 1281167,
            "source": "ILSVRC 2012 training images: Hugging Face dataset card of imagenet-1k"}

TF_BENCH = "tensorflow/docs_src/performance/benchmarks.md @5984ffe (May 2017)"
LAMBDA = "lambdalabs.com, 2080 Ti deep learning benchmarks (Mar 2019, TF 1.12, FP32)"
LAMBDA_CSV = ("LambdaColdStorage/lambda-tensorflow-benchmark tf-train-throughput-fp32.csv and "
              "tf-train-bs-fp32.csv @64f866c, row ")
MXNET = "apache/mxnet docs/how_to/perf.md @076c2a0 (MXNet 0a03417, cuDNN 5.1)"
MXNET_1_2 = "apache/mxnet docs/faq/perf.md @054aeee (MXNet 1.2.0.rc1, cuDNN 7.0.5)"
MXNET_SCALING = "dmlc/mxnet example/image-classification/README.md, EC2 p2.16xlarge, one GPU"
BLUEFOG = ("Bluefog-Lib/bluefog, ResNet-50 on p3.16xlarge, ideal scaling per GPU: read off the pixels "
           "of the plot, about 1 %")
MEMORY = "from memory, unverified"
GCE = TF_BENCH + ", Google Compute Engine"
EC2 = TF_BENCH + ", Amazon EC2, distributed_replicated"
XLA = LAMBDA_CSV + "2080Ti_XLA_trt (XLA)"
JCJOHNSON = "jcjohnson/cnn-benchmarks README (Torch), forward and backward only; derived: 16 / "
ONE_TOWER = "; its AlexNet is the one-tower variant (64, 192, 384, 384, 256 channels)"

NVIDIA_BERT = ("NVIDIA/DeepLearningExamples, PyTorch/LanguageModeling/BERT/README.md @23a6382: pre-training, 128 "
               "tokens, ")
NVIDIA_RESNET = ("NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets/resnet50v1.5/README.md @291f0d0: one "
                 "of the GPUs of a DGX ")
LLM_C = "karpathy/llm.c, "

# One GPU each: device, batch (None: not stated), samples per second, source, precision unless it is fp32. A sample of a
# language model is a sequence, and rates of several GPUs, which include their exchange, are divided by their number.
THROUGHPUT = {
    "bert-large": [
        ("v100", 8, 33.36, NVIDIA_BERT + "DGX-1 of 16 GB, one GPU, FP32"),
        ("v100", 32, 40.32, NVIDIA_BERT + "DGX-1 of 32 GB, one GPU, FP32"),
        ("v100", 16, 125.44, NVIDIA_BERT + "DGX-1 of 16 GB, one GPU, mixed precision", "fp16"),
        ("v100", 64, 171.52, NVIDIA_BERT + "DGX-1 of 32 GB, one GPU, mixed precision", "fp16"),
    ],
    "gpt2": [
        ("a100-40gb", None, 104.2, "karpathy/nanoGPT README.md: about 4 days on 8 GPUs for the 600,000 iterations of "
         "491,520 tokens of config/train_gpt2.py, with evaluations; derived: 600000 x 480 / (4 x 86400 x 8). "
         "bfloat16: whose peak model.py compares with (pull request 464)", "bf16"),
        ("a100-80gb", None, 226, LLM_C + "discussion #481, quoted by edworking.com: 10 billion tokens in about 90 "
         "minutes on 8 GPUs (SXM); derived: 1e10 / 1024 / (90 x 60 x 8). bfloat16: a post of the author on the "
         "project, zamantika.com", "bf16"),
        ("h100-sxm", None, 366, "jjschwartz.github.io, scaling-gpt2: 3 million tokens per second on 8 GPUs; derived: "
         "3e6 / 1024 / 8. bfloat16 is assumed", "bf16"),
    ],
    "gpt2-xl": [
        ("h100-sxm", None, 47.4, LLM_C + "discussion #677, mirrored by vuink.com: 24 hours on 8 GPUs; its 32,000 steps "
         "of 1,048,576 tokens: from memory, unverified; derived: 32000 x 1024 / (86400 x 8). The author's post says about "
         "50 % of the peak (topicdigg.com)", "bf16"),
    ],
    "llama-7b": [
        ("a100-80gb", None, 1.645, "Touvron et al., LLaMA, 2023: 82,432 GPU hours (Table 15) for 1.0T tokens (Table "
         "2), on up to 2048 GPUs; derived: 1e12 / 2048 / (82432 x 3600). bfloat16 is assumed", "bf16"),
    ],
    "tinyllama-1.1b": [
        ("a100-40gb", 8, 11.72, "jzhang38/TinyLlama README.md: 24k tokens per second and GPU, 16k tokens per GPU, 16 "
         "GPUs; derived: 24000 / 2048. It states 56 % of the peak, that of bfloat16", "bf16"),
    ],
    "alexnet": [
        ("p100", 512, 2987, TF_BENCH + ONE_TOWER),
        ("k80", 512, 656, GCE + ONE_TOWER),
        ("gtx-1080-ti", 512, 2636, LAMBDA_CSV + "1080Ti" + ONE_TOWER),
        ("rtx-2080-ti", 512, 4184, XLA + ONE_TOWER),
        ("p100", 128, 2012.04, MXNET + "; batch 8 x 16"),
        ("p100", 256, 1869.69, MXNET + "; batch 8 x 32"),
        ("m40", 256, 1046.23, MXNET + "; batch 8 x 32"),
        ("k80", 256, 483.37, MXNET + "; batch 8 x 32"),
        ("v100", 512, 2585.61, MXNET_1_2 + "; batch 16 x 32"),
        ("gtx-1080-ti", 16, 1151.9, JCJOHNSON + "13.89 ms"),
        ("titan-x-pascal", 16, 1098.9, JCJOHNSON + "14.56 ms"),
        ("gtx-1080", 16, 771.5, JCJOHNSON + "20.74 ms"),
        ("titan-x-maxwell", 16, 732.3, JCJOHNSON + "21.85 ms"),
        ("k80", 512, 457.07, MXNET_SCALING),
        ("titan-xp", None, 3004, MEMORY + ONE_TOWER),
    ],
    "googlenet": [
        ("titan-x-pascal", 16, 408.8, JCJOHNSON + "39.14 ms (its Inception-v1)"),
        ("gtx-1080", 16, 284.9, JCJOHNSON + "56.16 ms (its Inception-v1)"),
    ],
    "inception-v3": [
        ("p100", 64, 142, TF_BENCH),
        ("p100", 32, 128, TF_BENCH),
        ("k80", 64, 30.5, GCE),
        ("k80", 64, 29.7, EC2),
        ("titan-xp", None, 151, LAMBDA),
        ("gtx-1080-ti", None, 136, LAMBDA),
        ("rtx-2080-ti", None, 194, LAMBDA),
        ("gtx-1080-ti", 64, 131, LAMBDA_CSV + "1080Ti"),
        ("rtx-2080-ti", 64, 214, XLA),
        ("p100", 32, 129.98, MXNET),
        ("m40", 32, 68.87, MXNET),
        ("k80", 32, 29.62, MXNET),
        ("v100", 32, 214.48, MXNET_1_2),
        ("v100", 64, 247.43, MXNET_1_2),
        ("k80", 32, 30.4, MXNET_SCALING),
    ],
    "vgg-16": [
        ("p100", 64, 154, TF_BENCH),
        ("p100", 32, 144, TF_BENCH),
        ("k80", 32, 35.4, GCE),
        ("gtx-1080-ti", 56, 125, LAMBDA_CSV + "1080Ti"),
        ("rtx-2080-ti", 56, 190, XLA),
        ("titan-x-pascal", 16, 124.4, JCJOHNSON + "128.62 ms"),
        ("gtx-1080", 16, 87.5, JCJOHNSON + "182.79 ms"),
        ("titan-xp", None, 149, MEMORY),
    ],
    "resnet-50": [
        ("p100", 64, 219, TF_BENCH),
        ("p100", 32, 195, TF_BENCH),
        ("k80", 64, 51.9, GCE),
        ("k80", 64, 52.4, EC2),
        ("titan-xp", None, 236, LAMBDA),
        ("gtx-1080-ti", None, 209, LAMBDA),
        ("rtx-2080-ti", None, 294, LAMBDA),
        ("gtx-1080-ti", 64, 209, LAMBDA_CSV + "1080Ti"),
        ("rtx-2080-ti", 64, 321, XLA),
        ("p100", 32, 181.53, MXNET),
        ("m40", 32, 90.74, MXNET),
        ("k80", 32, 45.52, MXNET),
        ("v100", 32, 298.51, MXNET_1_2),
        ("v100", 64, 343.19, MXNET_1_2),
        ("gtx-1080-ti", 16, 158.1, JCJOHNSON + "101.21 ms"),
        ("titan-x-pascal", 16, 154.5, JCJOHNSON + "103.58 ms"),
        ("gtx-1080", 16, 106.8, JCJOHNSON + "149.82 ms"),
        ("v100", 32, 314.9, BLUEFOG),
        ("v100", None, 1200, NVIDIA_RESNET + "1 of 16 GB, mixed precision", "fp16"),
        ("a100-80gb", None, 938, NVIDIA_RESNET + "A100, TF32", "tf32"),
        ("a100-80gb", None, 2470, NVIDIA_RESNET + "A100, mixed precision", "fp16"),
    ],
    "resnet-152": [
        ("p100", 64, 91.8, TF_BENCH),
        ("p100", 32, 82.7, TF_BENCH),
        ("k80", 32, 20.0, GCE),
        ("k80", 32, 19.4, EC2),
        ("titan-xp", None, 90, LAMBDA),
        ("gtx-1080-ti", None, 81, LAMBDA),
        ("rtx-2080-ti", None, 110, LAMBDA),
        ("gtx-1080-ti", 32, 83, LAMBDA_CSV + "1080Ti"),
        ("rtx-2080-ti", 32, 122, XLA),
        ("k80", 32, 20.08, MXNET_SCALING),
        ("titan-x-pascal", 16, 73.4, JCJOHNSON + "217.91 ms"),
    ],
}

GPT2_SOURCE = ("Radford et al., 2019; openai/gpt-2 src/model.py; sizes as in karpathy/nanoGPT model.py, which loads "
               "the released weights")
GPT2_PUBLISHED = ("parameters as transformers counts them (friedeggs/in-context_learning, data/model_info.py); MiB "
                  "derived; "
                  f"{BYTE_MODEL}")

NETWORKS = {
    "alexnet": {
        "title": "AlexNet, grouped (Caffe), 227 x 227 px",
        "source": "Krizhevsky et al., NIPS 2012; BVLC/caffe models/bvlc_alexnet/train_val.prototxt",
        "dataset": IMAGENET, "layers": alexnet,
        "published": (60965224, 232.56, 408000, f"gradient size: {DGC}, Table 3 (0.39 MB, 597x); "
                      f"parameters derived; {BYTE_MODEL}"),
    },
    "vgg-16": {
        "title": "VGG-16, configuration D, 224 x 224 px",
        "source": "Simonyan and Zisserman, ICLR 2015, configuration D",
        "dataset": IMAGENET, "layers": vgg_16,
        "published": (138357544, 527.79, 883729, "parameters: torchvision weight metadata; "
                      f"gradient size derived; {BYTE_MODEL}"),
    },
    "resnet-50": {
        "title": "ResNet-50, stride on the 3 x 3 convolutions, 224 x 224 px",
        "source": "He et al., CVPR 2016; layer names and strides as in torchvision",
        "dataset": IMAGENET, "layers": resnet_50,
        "published": (25557032, 97.49, 369497, f"gradient size: {DGC}, Table 3 (0.35 MB, 277x); "
                      f"parameters: torchvision weight metadata; {BYTE_MODEL}"),
    },
    "resnet-110": {
        "title": "ResNet-110 for CIFAR, shortcuts without parameters (option A), 32 x 32 px",
        "source": "He et al., CVPR 2016, the CIFAR networks with n = 18",
        "dataset": {"name": "CIFAR-10", "samples": 50000,
                    "source": "training images: TensorFlow Datasets, cifar10"},
        "layers": resnet_110,
        "published": (1727962, 6.59, 42743,
                      f"parameters and gradient size derived from the architecture; {BYTE_MODEL}"),
    },
    "ptb-lstm": {
        "title": "PTB language model: LSTM 2 x 1500, vocabulary 10,000, tied embedding",
        "source": f"{DGC}: two layers, 1500 units, tied embedding; "
                  "tensors, with two bias vectors a layer, as in PyTorch",
        "sample": "token",
        "dataset": {"name": "Penn Treebank", "samples": 929589,
                    "source": "training tokens: word counts of the files that Mikolov prepared, in the "
                              "docstring of a loader"},
        "layers": ptb_lstm,
        "published": (51034000, 194.68, 442000, f"gradient size: {DGC}, Table 4 (0.42 MB, 462x); "
                      f"parameters derived; {BYTE_MODEL}"),
    },
    "vgg-a": {
        "title": "VGG-A (11 layers), 224 x 224 px",
        "source": "Simonyan and Zisserman, ICLR 2015, configuration A; the VggNet-A of TernGrad "
                  "(Wen et al., NeurIPS 2017)",
        "dataset": IMAGENET, "layers": vgg_a,
        "published": (132863336, 506.83, 844884, "parameters derived from the architecture, MiB "
                      f"from them; {BYTE_MODEL}"),
    },
    "googlenet": {
        "title": "GoogLeNet (Inception-v1) as BVLC's, without the auxiliary heads, 224 x 224 px",
        "source": "Szegedy et al., CVPR 2015; sizes as in BVLC/caffe models/bvlc_googlenet",
        "dataset": IMAGENET, "layers": googlenet,
        "published": (6998552, 26.70, 75062, "parameters: count of the BVLC net from memory, "
                      f"unverified, and met by the derivation; MiB derived; {BYTE_MODEL}"),
    },
    "inception-v3": {
        "title": "Inception-v3 with its auxiliary head, 299 x 299 px",
        "source": "Szegedy et al., CVPR 2016; layers as in torchvision. The auxiliary head, used in "
                  "training only, has 3,326,696 of the parameters: without it the net has "
                  "23,834,568, the ~23.8 million often quoted",
        "dataset": IMAGENET, "layers": inception_v3,
        "published": (27161264, 103.61, 315634, "parameters: torchvision weight metadata; MiB "
                      f"derived; {BYTE_MODEL}"),
    },
    "resnet-152": {
        "title": "ResNet-152, stride on the 3 x 3 convolutions, 224 x 224 px",
        "source": "He et al., CVPR 2016; layer names and strides as in torchvision",
        "dataset": IMAGENET, "layers": resnet_152,
        "published": (60192808, 229.62, 969938, "parameters derived, published as 60.2M (Poseidon "
                      f"documentation); MiB derived; {BYTE_MODEL}"),
    },
    "deepspeech": {
        "title": "DeepSpeech stand-in: 3 convolutions, 7 bidirectional GRU x 1200 (layout assumed)",
        "source": f"{DGC}: 7 GRU layers of 1200 and a gradient of 488.08 MB, LibriSpeech; the layout "
                  "was not published. Stand-in: the three convolutions of Deep Speech 2 (161 "
                  "frequencies and twice 32 channels: a paper that uses it, PMC10718467, Table 5; 96 "
                  "channels of the third: from memory, unverified), no biases in them, "
                  "directions summed, two GRU bias vectors, batch norm between layers, 29 "
                  "characters: chosen because it meets 488.08 MiB",
        "sample": "second of audio",
        "dataset": {"name": "LibriSpeech", "samples": 3456000,
                    "source": "960 hours in seconds: TensorFlow Datasets, librispeech"},
        "layers": deepspeech,
        "published": (127948528, 488.08, 1238664, f"gradient size: {DGC}, Table 4. Its 0.74 MB for "
                      "DGC is not met and contradicts itself: 488.08 / 0.74 is 660x, 608x is "
                      "printed; with every tensor sparse it would be 0.73 MiB; parameters of the "
                      f"stand-in derived; {BYTE_MODEL}"),
    },
    "bert-base": {
        "title": "BERT-Base (uncased) with both pre-training heads, sequences of 128 tokens",
        "source": "Devlin et al., NAACL 2019: 12 layers, hidden 768, 12 heads, inner 3072, 512 "
                  "positions; vocabulary 30,522 as in google-bert/bert-base-uncased config.json. "
                  "Without the heads 109,482,240 parameters. Multiply-accumulates as for bert-large",
        "sample": "sequence", "layers": bert_base,
        "published": (110106428, 420.02, 1279469, "parameters derived; 110M: "
                      f"google-research/bert README.md; MiB derived; {BYTE_MODEL}"),
    },
    "bert-large": {
        "title": "BERT-Large (uncased) with both pre-training heads, sequences of 128 tokens",
        "source": "Devlin et al., NAACL 2019: 24 layers, hidden 1024, 16 heads, inner 4096, 512 "
                  "positions; vocabulary 30,522 as in google-bert/bert-large-uncased config.json. "
                  "Without the heads 335,141,888 parameters. Multiply-accumulates: 128 tokens, "
                  "attention over all of them, the decoder at 20 masked ones (20: "
                  "google-research/bert README.md)",
        "sample": "sequence", "layers": bert_large,
        "published": (336226108, 1282.60, 3439844, "parameters derived; 336M: DeepSpeedExamples "
                      "autotuning page, by way of a summary; 340M with rounding: "
                      f"google-research/bert README.md; MiB derived; {BYTE_MODEL}"),
    },
    "transformer": {
        "title": "Transformer (big), WMT'16 En-De, joined vocabulary 32,768",
        "source": "Vaswani et al., NIPS 2017, big: 6 + 6 layers, width 1024, 16 heads, inner 4096 "
                  "(TensorFlow models, model_params.py; fairseq transformer_vaswani_wmt_en_de_big); "
                  "joined vocabulary 32,768, all embeddings shared: "
                  "fairseq examples/scaling_nmt/README.md; that SlowMo (Wang et al., ICLR 2020) used "
                  "this one is assumed: it says transformer, WMT'16 En-De. Multiply-accumulates of a "
                  "target token and a source token; products of attention, which grow with the "
                  "sentence (2 x 1024 per pair of tokens), are not counted",
        "sample": "token", "layers": transformer_big,
        "published": (209911808, 800.75, 2044723, "parameters derived; 210M in Ott et al., WMT "
                      f"2018 (from memory, unverified); MiB derived; {BYTE_MODEL}"),
    },
    "gpt2": {
        "title": "GPT-2 (124M), sequences of 1024 tokens",
        "source": GPT2_SOURCE, "sample": "sequence", "transformer": gpt2(12, 768, 12),
        "published": (124439808, 474.70, 1231287, GPT2_PUBLISHED),
    },
    "gpt2-medium": {
        "title": "GPT-2 (medium, 355M), sequences of 1024 tokens",
        "source": GPT2_SOURCE, "sample": "sequence", "transformer": gpt2(24, 1024, 16),
        "published": (354823168, 1353.54, 3413154, GPT2_PUBLISHED),
    },
    "gpt2-large": {
        "title": "GPT-2 (large, 774M), sequences of 1024 tokens",
        "source": GPT2_SOURCE, "sample": "sequence", "transformer": gpt2(36, 1280, 20),
        "published": (774030080, 2952.69, 7046971, GPT2_PUBLISHED),
    },
    "gpt2-xl": {
        "title": "GPT-2 (XL, 1.5B), sequences of 1024 tokens",
        "source": GPT2_SOURCE, "sample": "sequence", "transformer": gpt2(48, 1600, 25),
        "published": (1557611200, 5941.82, 13346058, GPT2_PUBLISHED),
    },
    "tinyllama-1.1b": {
        "title": "TinyLlama-1.1B, sequences of 2048 tokens",
        "source": "jzhang38/TinyLlama README.md: 22 layers, 32 heads, 4 query groups, width 2048, inner 5632, "
                  "sequences of 2048; architecture and tokenizer of Llama 2, vocabulary 32,000",
        "sample": "sequence", "transformer": llama(22, 2048, 32, 4, 5632),
        "published": (1100048384, 4196.35, 6968377, "parameters as transformers and llama.cpp count "
                      f"them; MiB derived; {BYTE_MODEL}"),
    },
    "llama-7b": {
        "title": "Llama-7B, sequences of 2048 tokens",
        "source": "Touvron et al., LLaMA, 2023, Table 2: width 4096, 32 heads, 32 layers; inner 11008, vocabulary "
                  "32,000, sequences of 2048, output not tied: config.json of huggyllama/llama-7b",
        "sample": "sequence", "transformer": llama(32, 4096, 32, 32, 11008),
        "published": (6738415616, 25705.02, 41493856, "parameters: README.md of calflops (MrYxJ); MiB "
                      f"derived; {BYTE_MODEL}"),
    },
    "vit-b-16": {
        "title": "ViT-B/16, 224 x 224 px",
        "source": "Dosovitskiy et al., ICLR 2021; layer names as in torchvision",
        "dataset": IMAGENET, "layers": vit_b_16,
        "published": (86567656, 330.23, 1011115, "parameters: torchvision weight metadata, "
                      f"which has 17.6 GMACs; MiB derived; {BYTE_MODEL}"),
    },
}

# Figures that the derivation must reproduce: tensors of two or more dimensions, 1-D tensors, their
# elements, total GMACs; then, for the layers whose name matches: their number, parameters, MMACs
# (None: no figure was published or derived elsewhere).
REFERENCE = {
    "alexnet": ((8, 8, 10568, "0.724"), {
        "conv1": (1, 34944, "105.4"), "conv2": (1, 307456, "223.9"), "conv3": (1, 885120, "149.5"),
        "conv4": (1, 663936, "112.1"), "conv5": (1, 442624, "74.8"), "fc6": (1, 37752832, "37.7"),
        "fc7": (1, 16781312, "16.8"), "fc8": (1, 4097000, "4.1")}),
    "vgg-16": ((16, 16, 13416, "15.47"), {
        "conv1_1": (1, 1792, "87"), "conv1_2": (1, 36928, "1850"), "conv2_1": (1, 73856, "925"),
        "conv2_2": (1, 147584, "1850"), "conv3_1": (1, 295168, "925"),
        "conv3_2": (1, 590080, "1850"), "conv3_3": (1, 590080, "1850"),
        "conv4_1": (1, 1180160, "925"), "conv4_2": (1, 2359808, "1850"),
        "conv4_3": (1, 2359808, "1850"), "conv5_1": (1, 2359808, "462"),
        "conv5_2": (1, 2359808, "462"), "conv5_3": (1, 2359808, "462"),
        "fc6": (1, 102764544, None), "fc7": (1, 16781312, None), "fc8": (1, 4097000, None)}),
    "resnet-50": ((54, 107, 54120, "4.089"), {
        "conv1": (1, 9408, "118"), r"layer1.*(conv\d|\.0)": (10, 212992, "668"),
        r"layer2.*(conv\d|\.0)": (13, 1212416, "1028"),
        r"layer3.*(conv\d|\.0)": (19, 7077888, "1464"),
        r"layer4.*(conv\d|\.0)": (10, 14942208, "809"), r".*(bn\d|downsample\.1)": (53, 53120, "0"),
        "fc": (1, 2049000, "2.0")}),
    "resnet-110": ((110, 219, 8106, "0.253"), {
        "conv1": (1, 432, None), r"layer1.*conv\d": (36, 36 * 2304, None),
        r"layer2.*conv\d": (36, 4608 + 35 * 9216, None),
        r"layer3.*conv\d": (36, 18432 + 35 * 36864, None), r".*bn\d": (109, 8096, "0"),
        "fc": (1, 650, None)}),
    "ptb-lstm": ((5, 5, 34000, "0.051"), {
        "embedding": (1, 15000000, "0"), r"lstm\d": (2, 2 * 18012000, "36.0"),
        "decoder": (1, 10000, "15.0")}),
    "vgg-a": ((11, 11, 11944, "7.61"), {
        "conv1_1": (1, 1792, "87"), "conv2_1": (1, 73856, "925"), "conv3_1": (1, 295168, "925"),
        "conv3_2": (1, 590080, "1850"), "conv4_1": (1, 1180160, "925"),
        "conv4_2": (1, 2359808, "1850"), r"conv5_\d": (2, 2 * 2359808, None),
        "fc6": (1, 102764544, None), "fc7": (1, 16781312, None), "fc8": (1, 4097000, None)}),
    "googlenet": ((58, 58, 8280, "1.6"), {
        r"conv1": (1, 9472, "118"), r"conv2.*": (2, 4160 + 110784, None),
        r"inception_.*": (54, 6998552 - 9472 - 4160 - 110784 - 1025000, None),
        "fc": (1, 1025000, None)}),
    "inception-v3": ((98, 194, 38224, "5.7"), {
        r"AuxLogits\..*": (5, 27161264 - 23834568, None), "fc": (1, 2049000, None),
        r"(Conv2d|Mixed).*": (188, 23834568 - 2049000, None)}),
    "resnet-152": ((156, 311, 152424, "11.5"), {
        "conv1": (1, 9408, "118"), r"layer\d.*(conv\d|\.0)": (154, None, None),
        r".*(bn\d|downsample\.1)": (155, 152424 - 1000, "0"), "fc": (1, 2049000, None)}),
    "deepspeech": ((32, 48, 117920, None), {
        r"conv\d": (3, 14432 + 236544 + 709632, None), r"gru1": (1, 23169600, None),
        r"gru[2-7]": (6, 6 * 17294400, None), r".*\.bn": (10, 320 + 14400 + 2400, "0"),
        "fc": (1, 34800, None)}),
    "bert-base": ((78, 128, 154940, None), {
        r"embeddings.*": (2, 23440896 + 393216 + 1536 + 1536, "0"),
        r"layer\..*": (12 * 9, 12 * 7087872, None), "pooler": (1, 590592, None),
        r"next_sentence|masked\..*": (4, 590592 + 1536 + 30522 + 1538, None)}),
    "bert-large": ((150, 248, 356156, None), {
        r"embeddings.*": (2, 31254528 + 524288 + 2048 + 2048, "0"),
        r"layer\..*": (24 * 9, 24 * 12596224, None), "pooler": (1, 1049600, None),
        r"next_sentence|masked\..*": (4, 1049600 + 2048 + 30522 + 2050, None)}),
    "transformer": ((97, 156, 196608, None), {
        "embedding": (1, 33554432, "0"), r"encoder\..*": (6 * 8, 6 * 12596224, None),
        r"decoder\..*": (6 * 13, 6 * 16796672, None), "decoder": (1, 0, None)}),
    "gpt2": ((2 + 4 * 12, 2 + 8 * 12, (9 + 4) * 768 * 12 + 2 * 768, "145.8"), {
        "w[tp]e": (2, (50257 + 1024) * 768, "0"),
        r"h\..*": (7 * 12, 12 * (12 * 768**2 + 13 * 768), None), "ln_f": (1, 2 * 768, "0"),
        "lm_head": (1, 0, None)}),
    "gpt2-medium": ((2 + 4 * 24, 2 + 8 * 24, (9 + 4) * 1024 * 24 + 2 * 1024, "413.5"), {
        "w[tp]e": (2, (50257 + 1024) * 1024, "0"),
        r"h\..*": (7 * 24, 24 * (12 * 1024**2 + 13 * 1024), None), "ln_f": (1, 2 * 1024, "0"),
        "lm_head": (1, 0, None)}),
    "gpt2-large": ((2 + 4 * 36, 2 + 8 * 36, (9 + 4) * 1280 * 36 + 2 * 1280, "887.3"), {
        "w[tp]e": (2, (50257 + 1024) * 1280, "0"),
        r"h\..*": (7 * 36, 36 * (12 * 1280**2 + 13 * 1280), None), "ln_f": (1, 2 * 1280, "0"),
        "lm_head": (1, 0, None)}),
    "gpt2-xl": ((2 + 4 * 48, 2 + 8 * 48, (9 + 4) * 1600 * 48 + 2 * 1600, "1753.4"), {
        "w[tp]e": (2, (50257 + 1024) * 1600, "0"),
        r"h\..*": (7 * 48, 48 * (12 * 1600**2 + 13 * 1600), None), "ln_f": (1, 2 * 1600, "0"),
        "lm_head": (1, 0, None)}),
    "tinyllama-1.1b": ((2 + 5 * 22, 1 + 2 * 22, 45 * 2048, "2496.4"), {
        "wte": (1, 65536000, "0"), "lm_head": (1, 65536000, "134217.7"), "ln_f": (1, 2048, "0"),
        r"h\..*": (8 * 22, 22 * (2 * 2048**2 + 2 * 2048 * 256 + 3 * 2048 * 5632 + 4096), None)}),
    "llama-7b": ((2 + 5 * 32, 1 + 2 * 32, 65 * 4096, "14630.8"), {
        "wte": (1, 131072000, "0"), "lm_head": (1, 131072000, "268435.5"), "ln_f": (1, 4096, "0"),
        r"h\..*": (8 * 32, 32 * (4 * 4096**2 + 3 * 4096 * 11008 + 8192), None)}),
    "vit-b-16": ((4 + 4 * 12, 4 + 8 * 12, (9 + 4) * 768 * 12 + 3 * 768 + 1000, "17.6"), {
        "class_token": (1, 768, "0"), "conv_proj": (1, 590592, "115.6"),
        r"encoder\.pos_embedding": (1, 197 * 768, "0"),
        r"encoder\.layers\..*": (7 * 12, 12 * (12 * 768**2 + 13 * 768), None),
        r"encoder\.ln": (1, 1536, "0"), r"heads\.head": (1, 769000, "0.8")}),
}

# Totals that were published rounded, as published: in millions of parameters.
ROUNDED = {"resnet-152": "60.2", "bert-base": "110", "bert-large": "336", "transformer": "210", "gpt2": "124",
           "gpt2-large": "774", "gpt2-xl": "1558"}

# ---------------------------------------------------------------------------------------------


def require(what, actual, expected):
    if actual != expected:
        sys.exit(f"{what}: derived {actual}, reference {expected}")


def sizes(layers):
    """Returns the tensors' dimensions and element counts."""
    return [(len(t["shape"]), math.prod(t["shape"])) for made in layers for t in made["tensors"]]


def in_units(value, unit, like):
    decimals = len(like.partition(".")[2])
    return f"{value / unit:.{decimals}f}"


def check_against_reference(name, layers, published):
    (matrices, vectors, in_vectors, gmacs), groups = REFERENCE[name]
    tensors = sizes(layers)
    one_d = [count for dimensions, count in tensors if dimensions == 1]
    compressible = [count for dimensions, count in tensors if dimensions > 1]
    total = sum(one_d) + sum(compressible)
    require(f"{name}: parameters", total, published["parameters"])
    require(f"{name}: MiB", round(4 * total / 2**20, 2), published["gradient_mib"])
    require(f"{name}: nominal bytes", (6 * sum(compressible) + 500) // 1000 + 4 * sum(one_d),
            published["nominal_bytes_at_0.001"])
    require(f"{name}: tensors", (len(compressible), len(one_d), sum(one_d)),
            (matrices, vectors, in_vectors))
    if name in ROUNDED:
        require(f"{name}: millions", in_units(total, 1e6, ROUNDED[name]), ROUNDED[name])
    if gmacs is not None:
        require(f"{name}: GMACs", in_units(sum(made["macs"] for made in layers), 1e9, gmacs), gmacs)
    for pattern, (count, parameters, mmacs) in groups.items():
        group = [made for made in layers if re.fullmatch(pattern, made["name"])]
        require(f"{name}: layers {pattern}", len(group), count)
        if parameters is not None:
            require(f"{name}: parameters of {pattern}", sum(n for _, n in sizes(group)), parameters)
        if mmacs is not None:
            macs = sum(made["macs"] for made in group)
            require(f"{name}: MMACs of {pattern}", in_units(macs, 1e6, mmacs), mmacs)
    require(f"{name}: layers in all", len(layers), sum(count for count, _, _ in groups.values()))


def measured(device, batch, rate, source, precision="fp32"):
    stated = {} if precision == "fp32" else {"precision": precision}
    stated |= {} if batch is None else {"batch": batch}
    return {"device": device, "gpus": 1} | stated | {"samples_per_s": rate, "source": source}


def layers_of(name):
    network = NETWORKS[name]
    return decoder(**network["transformer"]) if "transformer" in network else network["layers"]()


def profile(name):
    network = NETWORKS[name]
    net = ({"transformer": network["transformer"]} if "transformer" in network else
           {"layers": layers_of(name)})
    keys = ("parameters", "gradient_mib", "nominal_bytes_at_0.001", "source")
    made = {
        "name": name, "title": network["title"], "source": network["source"],
        "sample": network.get("sample", "image"),
        **({"dataset": network["dataset"]} if "dataset" in network else {}),
        **net,
        "published": dict(zip(keys, network["published"])),
        "throughput": [measured(*row) for row in THROUGHPUT.get(name, [])],
    }
    check_against_reference(name, layers_of(name), made["published"])
    return made


def layer_text(made):
    head = json.dumps({key: made[key] for key in ("name", "macs", "source")})[:-1]
    tensors = ",\n       ".join(map(json.dumps, made["tensors"]))
    return f'{head},\n     "tensors": [\n       {tensors}]}}'


def text(made):
    def block(rows):
        return "[\n    " + ",\n    ".join(rows) + "\n  ]" if rows else "[]"

    written = {key: json.dumps(value) for key, value in made.items()}
    if "layers" in made:
        written["layers"] = block([layer_text(each) for each in made["layers"]])
    written["throughput"] = block([json.dumps(each) for each in made["throughput"]])
    return "{\n" + ",\n".join(f'  "{key}": {value}' for key, value in written.items()) + "\n}\n"


def shares_of_peak():
    """Returns what each net reaches of a device's peak in a precision: 3 x 2 x MACs x samples/s / peak.

    Several entries count as their median."""
    devices = json.loads((MODELS / "devices.json").read_text())["devices"]
    shares = []
    for made in map(profile, sorted(NETWORKS)):
        flops = 6 * sum(each["macs"] for each in layers_of(made["name"]))
        for device in devices:
            for precision, peak in device["peak_flops"].items():
                rates = [row["samples_per_s"] for row in made["throughput"] if row["device"] == device["name"]
                         and row.get("precision", "fp32") == precision]
                if rates:
                    shares.append((flops * statistics.median(rates) / peak, made, device["name"], precision))
    return sorted(shares, key=lambda share: share[0])


def print_efficiency():
    """Prints the shares of the peaks that training reaches. Those of nets of images in fp32 have the default as median."""
    shares = shares_of_peak()
    ordinary = [share for share in shares if share[1]["sample"] == "image" and share[3] == "fp32"]
    for rows in ([share for share in shares if share not in ordinary], ordinary):
        for share, made, device, precision in rows:
            print(f"{share:6.3f}  {made['name']:<14}  {device:<15}  {precision}")
        print()
    values = [share[0] for share in ordinary]
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    print(f"{len(values)} pairs of images in fp32: median {median:.3f}, quartiles {low:.3f} and {high:.3f}, "
          f"least {min(values):.3f}, most {max(values):.3f}")


def main(arguments):
    if arguments not in ([], ["--check"], ["--efficiency"]):
        sys.exit("usage: tools/make_profiles.py [--check | --efficiency]")
    if arguments == ["--efficiency"]:
        return print_efficiency()
    stale = []
    for name in NETWORKS:
        path, wanted = PROFILES / f"{name}.json", text(profile(name)).encode("ascii")
        if path.is_file() and path.read_bytes() == wanted:
            continue  # not written again, or the program would be built again
        if not arguments:
            path.write_bytes(wanted)
        else:
            stale.append(f"models/profiles/{name}.json differs; run tools/make_profiles.py")
    if stale:
        sys.exit("\n".join(stale))


if __name__ == "__main__":
    main(sys.argv[1:])
