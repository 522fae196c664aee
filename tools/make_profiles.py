#!/usr/bin/env python3
"""Writes models/profiles/*.json: published networks as the simulated clock sees them.

A profile lists a network's layers in forward order: the gradient tensors each produces and the
multiply-accumulates (MACs) of one sample's forward pass. Both are derived here from the
architecture and checked against published totals before anything is written.

    tools/make_profiles.py            rewrite the files
    tools/make_profiles.py --check    exit 1 and name each file that differs

MACs count convolutions and matrix products only; biases, batch norm, activations, pooling and
embedding look-ups are zero.
"""

import json
import math
import re
import sys
from pathlib import Path

PROFILES = Path(__file__).resolve().parent.parent / "models" / "profiles"

# ---------------------------------------------------------------------------------------------
# Layers. A feature map is (channels, side).


def layer(name, macs, source, **shapes):
    tensors = [{"name": tensor, "shape": list(shape)} for tensor, shape in shapes.items()]
    return {"name": name, "macs": macs, "source": source, "tensors": tensors}


def shrink(side, kernel, stride, pad):
    return (side + 2 * pad - kernel) // stride + 1


def conv(name, x, out, kernel, stride=1, pad=0, groups=1, bias=True):
    """A square convolution on x: its layer and the feature map it puts out."""
    channels, side = x[0] // groups, shrink(x[1], kernel, stride, pad)
    shapes = {"weight": (out, channels, kernel, kernel)} | ({"bias": (out,)} if bias else {})
    source = f"derived: {out} x {side} x {side} outputs x {channels} x {kernel} x {kernel}"
    return layer(name, out * side**2 * channels * kernel**2, source, **shapes), (out, side)


def batch_norm(name, channels):
    return layer(name, 0, "batch norm: not counted", weight=(channels,), bias=(channels,))


def dense(name, inputs, out):
    source = f"derived: {out} outputs x {inputs}"
    return layer(name, out * inputs, source, weight=(out, inputs), bias=(out,))


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


def vgg_16():
    x, layers = (3, 224), []
    for stage, (convs, out) in enumerate([(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)], 1):
        for i in range(1, convs + 1):
            made, x = conv(f"conv{stage}_{i}", x, out, 3, pad=1)
            layers.append(made)
        x = (out, shrink(x[1], 2, 2, 0))
    return layers + [dense("fc6", x[0] * x[1]**2, 4096), dense("fc7", 4096, 4096),
                     dense("fc8", 4096, 1000)]


def conv_bn(conv_name, bn_name, x, out, kernel, stride=1):
    made, x = conv(conv_name, x, out, kernel, stride, kernel // 2, bias=False)
    return [made, batch_norm(bn_name, out)], x


def residual_stage(stage, x, blocks, kernels, widths, stride, project):
    """Blocks of len(kernels) convolutions; the first 3 x 3 of the stage has the stride."""
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


def resnet_50():
    layers, x = conv_bn("conv1", "bn1", (3, 224), 64, 7, 2)
    x = (64, shrink(x[1], 3, 2, 1))
    for stage, (blocks, w) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)], 1):
        made, x = residual_stage(stage, x, blocks, (1, 3, 1), (w, w, 4 * w),
                                 1 if stage == 1 else 2, project=True)
        layers += made
    return layers + [dense("fc", 2048, 1000)]


def resnet_110():
    layers, x = conv_bn("conv1", "bn1", (3, 32), 16, 3)
    for stage, w in enumerate([16, 32, 64], 1):
        made, x = residual_stage(stage, x, 18, (3, 3), (w, w),
                                 1 if stage == 1 else 2, project=False)
        layers += made
    return layers + [dense("fc", 64, 10)]


def ptb_lstm():
    # The tied matrix sits in the first layer: its gradient is complete only when the backward
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


# ---------------------------------------------------------------------------------------------
# Sources and measurements.

DGC = "Lin et al., Deep Gradient Compression, ICLR 2018"
BYTE_MODEL = ("nominal bytes derived: 6 B x 0.001 of the elements of tensors with two or more "
              "dimensions + 4 B per element of the 1-D tensors")
IMAGENET = {"name": "ImageNet-1k", "samples": 1281167,
            "source": "ILSVRC 2012 training images; count from memory, unverified"}

TF_BENCH = "tensorflow/docs_src/performance/benchmarks.md @5984ffe (May 2017)"
LAMBDA = "lambdalabs.com, 2080 Ti deep learning benchmarks (Mar 2019, TF 1.12, FP32)"
LAMBDA_CSV = ("LambdaColdStorage/lambda-tensorflow-benchmark tf-train-throughput-fp32.csv and "
              "tf-train-bs-fp32.csv @64f866c, row ")
MXNET = "apache/mxnet docs/how_to/perf.md @076c2a0 (MXNet 0a03417, cuDNN 5.1)"
MXNET_1_2 = "apache/mxnet docs/faq/perf.md @054aeee (MXNet 1.2.0.rc1, cuDNN 7.0.5)"
JCJOHNSON = "jcjohnson/cnn-benchmarks README (Torch), forward and backward only; derived: 16 / "
ONE_TOWER = "; its AlexNet is the one-tower variant (64, 192, 384, 384, 256 channels)"

# One GPU each: device, batch (None: not stated), samples per second, source.
THROUGHPUT = {
    "alexnet": [
        ("p100", 512, 2987, TF_BENCH + ONE_TOWER),
        ("k80", 512, 656, TF_BENCH + ", Google Compute Engine" + ONE_TOWER),
        ("gtx-1080-ti", 512, 2636, LAMBDA_CSV + "1080Ti" + ONE_TOWER),
        ("rtx-2080-ti", 512, 4184, LAMBDA_CSV + "2080Ti_XLA_trt (XLA)" + ONE_TOWER),
        ("p100", 128, 2012.04, MXNET + "; batch 8 x 16"),
        ("p100", 256, 1869.69, MXNET + "; batch 8 x 32"),
        ("m40", 256, 1046.23, MXNET + "; batch 8 x 32"),
        ("k80", 256, 483.37, MXNET + "; batch 8 x 32"),
        ("v100", 512, 2585.61, MXNET_1_2 + "; batch 16 x 32"),
        ("gtx-1080-ti", 16, 1151.9, JCJOHNSON + "13.89 ms"),
    ],
    "vgg-16": [
        ("p100", 64, 154, TF_BENCH),
        ("p100", 32, 144, TF_BENCH),
        ("k80", 32, 35.4, TF_BENCH + ", Google Compute Engine"),
        ("gtx-1080-ti", 56, 125, LAMBDA_CSV + "1080Ti"),
        ("rtx-2080-ti", 56, 190, LAMBDA_CSV + "2080Ti_XLA_trt (XLA)"),
    ],
    "resnet-50": [
        ("p100", 64, 219, TF_BENCH),
        ("p100", 32, 195, TF_BENCH),
        ("k80", 64, 51.9, TF_BENCH + ", Google Compute Engine"),
        ("k80", 64, 52.4, TF_BENCH + ", Amazon EC2, distributed_replicated"),
        ("titan-xp", None, 236, LAMBDA),
        ("gtx-1080-ti", None, 209, LAMBDA),
        ("rtx-2080-ti", None, 294, LAMBDA),
        ("gtx-1080-ti", 64, 209, LAMBDA_CSV + "1080Ti"),
        ("rtx-2080-ti", 64, 321, LAMBDA_CSV + "2080Ti_XLA_trt (XLA)"),
        ("p100", 32, 181.53, MXNET),
        ("m40", 32, 90.74, MXNET),
        ("k80", 32, 45.52, MXNET),
        ("v100", 32, 298.51, MXNET_1_2),
        ("v100", 64, 343.19, MXNET_1_2),
        ("gtx-1080-ti", 16, 158.1, JCJOHNSON + "101.21 ms"),
    ],
}

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
                    "source": "training images; count from memory, unverified"},
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
                    "source": "training tokens; count from memory, unverified"},
        "layers": ptb_lstm,
        "published": (51034000, 194.68, 442000, f"gradient size: {DGC}, Table 4 (0.42 MB, 462x); "
                      f"parameters derived; {BYTE_MODEL}"),
    },
}

# What the derivation must reproduce: tensors of two or more dimensions, 1-D tensors, their
# elements, GMACs in all; then, for the layers whose name matches, how many, parameters, MMACs
# (None: no figure was published or worked out elsewhere).
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
}

# ---------------------------------------------------------------------------------------------


def require(what, actual, expected):
    if actual != expected:
        sys.exit(f"{what}: derived {actual}, reference {expected}")


def sizes(layers):
    """The tensors' dimensions and element counts."""
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
    require(f"{name}: GMACs", in_units(sum(made["macs"] for made in layers), 1e9, gmacs), gmacs)
    for pattern, (count, parameters, mmacs) in groups.items():
        group = [made for made in layers if re.fullmatch(pattern, made["name"])]
        require(f"{name}: layers {pattern}", len(group), count)
        require(f"{name}: parameters of {pattern}", sum(n for _, n in sizes(group)), parameters)
        if mmacs is not None:
            macs = sum(made["macs"] for made in group)
            require(f"{name}: MMACs of {pattern}", in_units(macs, 1e6, mmacs), mmacs)
    require(f"{name}: layers in all", len(layers), sum(count for count, _, _ in groups.values()))


def measured(device, batch, rate, source):
    stated = {} if batch is None else {"batch": batch}
    return {"device": device, "gpus": 1} | stated | {"samples_per_s": rate, "source": source}


def profile(name):
    network = NETWORKS[name]
    keys = ("parameters", "gradient_mib", "nominal_bytes_at_0.001", "source")
    made = {
        "name": name, "title": network["title"], "source": network["source"],
        "sample": network.get("sample", "image"), "dataset": network["dataset"],
        "layers": network["layers"](),
        "published": dict(zip(keys, network["published"])),
        "throughput": [measured(*row) for row in THROUGHPUT.get(name, [])],
    }
    check_against_reference(name, made["layers"], made["published"])
    return made


def layer_text(made):
    head = json.dumps({key: made[key] for key in ("name", "macs", "source")})[:-1]
    tensors = ",\n       ".join(map(json.dumps, made["tensors"]))
    return f'{head},\n     "tensors": [\n       {tensors}]}}'


def text(made):
    def block(rows):
        return "[\n    " + ",\n    ".join(rows) + "\n  ]" if rows else "[]"

    written = {key: json.dumps(value) for key, value in made.items()}
    written["layers"] = block([layer_text(each) for each in made["layers"]])
    written["throughput"] = block([json.dumps(each) for each in made["throughput"]])
    return "{\n" + ",\n".join(f'  "{key}": {value}' for key, value in written.items()) + "\n}\n"


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit("usage: tools/make_profiles.py [--check]")
    stale = []
    for name in NETWORKS:
        path, wanted = PROFILES / f"{name}.json", text(profile(name)).encode("ascii")
        if not arguments:
            path.write_bytes(wanted)
        elif not path.is_file() or path.read_bytes() != wanted:
            stale.append(f"models/profiles/{name}.json differs; run tools/make_profiles.py")
    if stale:
        sys.exit("\n".join(stale))


if __name__ == "__main__":
    main(sys.argv[1:])
