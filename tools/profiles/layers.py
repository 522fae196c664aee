"""Layers: the tensors of each and the multiply-accumulates of one sample. A feature map is (channels, side)."""


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
