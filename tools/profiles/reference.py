"""Figures that the layers of a network must reproduce, and the check that they do."""

import math
import re
import sys

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
    "resnet-101": ((105, 209, 106344, "7.80"), {
        "conv1": (1, 9408, "118"), r"layer\d.*(conv\d|\.0)": (103, None, None),
        r".*(bn\d|downsample\.1)": (104, 105344, "0"), "fc": (1, 2049000, None)}),
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
