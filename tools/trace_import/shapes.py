"""Which tensors of an operator are parameters, and how many multiply-accumulates it does.

Operators are those of PyTorch's ATen. The positions are those of their arguments in native_functions.yaml: a dense layer
is linear(input, weight, bias), a normalization batch_norm(input, weight, bias, running_mean, ...). Checked with the schemas
of PyTorch 1.13 (torch._C._jit_get_all_schemas), and rms_norm with a later native_functions.yaml.
"""

import math

# name: position of the input whose first extent is the batch, then of weight and bias
PARAMETERS = {
    "aten::linear": (0, 1, 2),
    "aten::addmm": (1, 2, 0),
    "aten::conv1d": (0, 1, 2), "aten::conv2d": (0, 1, 2), "aten::conv3d": (0, 1, 2), "aten::convolution": (0, 1, 2),
    "aten::conv_transpose1d": (0, 1, 2), "aten::conv_transpose2d": (0, 1, 2), "aten::conv_transpose3d": (0, 1, 2),
    "aten::embedding": (1, 0), "aten::embedding_bag": (1, 0),
    "aten::batch_norm": (0, 1, 2), "aten::native_batch_norm": (0, 1, 2), "aten::instance_norm": (0, 1, 2),
    "aten::layer_norm": (0, 2, 3), "aten::native_layer_norm": (0, 2, 3),
    "aten::group_norm": (0, 2, 3), "aten::native_group_norm": (0, 1, 2),
    "aten::rms_norm": (0, 2), "aten::prelu": (0, 1),
}
UNSURE = {"aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu", "aten::matmul", "aten::mm", "aten::bmm"}
CONVOLUTIONS = {name for name in PARAMETERS if "conv" in name}


def plain(shapes, position):
    """Returns the shape of an input that is one tensor with entries; None otherwise."""
    if shapes is None or position >= len(shapes):
        return None
    shape = shapes[position]
    return shape if isinstance(shape, tuple) and shape and 0 not in shape else None


def parameters(name, shapes):
    """Returns (name, shape) of the operator's parameters."""
    positions = PARAMETERS.get(name)
    if positions is None:
        return []
    found = []
    for what, position in zip(("weight", "bias"), positions[1:]):
        shape = plain(shapes, position)
        if shape is not None and not (name == "aten::addmm" and what == "bias" and len(shape) != 1):
            found.append((what, shape))
    return found


def batch(name, shapes):
    """Returns the first extent of the operator's input; None if that is not a layer with parameters, or not recorded."""
    positions = PARAMETERS.get(name)
    shape = plain(shapes, positions[0]) if positions else None
    return shape[0] if shape else None


def multiplies(name):
    return name in CONVOLUTIONS or name in ("aten::linear", "aten::addmm", "aten::mm", "aten::bmm", "aten::baddbmm",
                                            "aten::scaled_dot_product_attention")


def multiply_accumulates(name, shapes, output):
    """Returns those of one call, 0 if the shapes do not tell. `output` is the shape of what backward passes in."""
    first, second, third = (plain(shapes, i) for i in range(3))
    if name in CONVOLUTIONS:
        if not output or not second:
            return 0
        transposed = "transpose" in name  # its weight has the input's channels first
        return math.prod((first or ()) if transposed else output) * math.prod(second[1:])
    if name == "aten::linear" and first and second and len(second) == 2:
        return math.prod(first) * second[0]
    if name == "aten::addmm" and second and third:
        return math.prod(second) * third[-1]
    if name == "aten::baddbmm" and second and third:
        return math.prod(second) * third[-1]
    if name in ("aten::mm", "aten::bmm") and first and second:
        return math.prod(first) * second[-1]
    if name == "aten::scaled_dot_product_attention" and first and second and len(second) > 1:
        return 2 * math.prod(first) * second[-2]
    return 0
