// Images of handwritten-looking digits, drawn rather than read: no file is needed.
//
// A glyph is a few strokes (lines and arcs) in the unit square. An image bends, shears, scales,
// turns and shifts the strokes of its digit at random, draws them with a pen of random width and
// softness, and adds noise:
//
//   p        a point of a stroke, the glyph's middle being 0, its height 0.72 of the image's
//   p'       = R(angle) S(shear) scale (p + warp * (quadratic in p)) + shift
//   pixel    = clamp(contrast * ink(distance to the nearest stroke) + noise * N(0, 1), 0, 1)
//
// All distortions but noise are uniform in +- the option, or in the range given; lengths are shares
// of the image's side. With three channels, ink and background have random colors, so that which
// of them is lighter says nothing. Pixels are in [0, 1].
//
// How hard (least squares on one-hot labels, 10000 training samples): a linear model is right on 90 %
// of the test set, one on 2000 random ReLU features on 98 %. In color (3 x 32 x 32) a linear model is
// at chance, the random features at 64 %.
#pragma once

#include "models/data/dataset.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

struct DigitsOptions {
    int channels = 1;  // 1: light on black; 3: colors
    int size = 28;     // pixels in height and in width
    double shift = 0.07;
    double rotation = 0.3;  // radians
    double scale = 0.15;    // of the size, in each direction by itself
    double shear = 0.25;
    double warp = 0.3;
    double thinnest = 0.05;  // width of the pen
    double thickest = 0.11;
    double softest = 0.09;  // width of the pen's soft edge; a pixel is the sharpest
    double faintest = 0.6;  // contrast, up to 1; with three channels, distance of the colors
    double noise = 0.1;
    int train = 10000;
    int test = 2000;
};

/// Digits are equally likely. An image depends on its number and the seed, not on how many there
/// are. Requires channels 1 or 3, size >= 8, distortions >= 0, scale < 1, thinnest <= thickest,
/// faintest in (0, 1], train >= 1 and test >= 0.
Dataset digits(const DigitsOptions& options, const RandomStreams& streams);

}  // namespace paceline
