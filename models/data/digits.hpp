// Images of handwritten-looking digits. They are drawn, so no file is needed.
//
// A glyph is a few strokes (lines and arcs) in the unit square. To make an image, the strokes of
// its digit are bent, sheared, scaled, rotated and shifted at random and drawn with a pen of random
// width and softness. Then noise is added:
//
//   p        a point of a stroke; the glyph's middle is 0, its height 0.72 of the image's
//   p'       = R(angle) S(shear) scale (p + warp * (quadratic in p)) + shift
//   pixel    = clamp(contrast * ink(distance to the nearest stroke) + noise * N(0, 1), 0, 1)
//
// All distortions except noise are uniform in +- the option, or in the given range. Lengths are
// shares of the image's side. With three channels, ink and background have random colors, so that
// the lighter of the two carries no information. Pixels are in [0, 1].
//
// Difficulty (least squares on one-hot labels, 10000 training samples): a linear model is right on
// 90 % of the test set, one on 2000 random ReLU features on 98 %. In color (3 x 32 x 32) a linear
// model is at chance and the random features reach 64 %.
#pragma once

#include "models/data/dataset.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

struct DigitsOptions {
    int channels = 1;  // 1: light on black; 3: colors
    int size = 28;     // pixels in height and in width
    double shift = 0.07;
    double rotation = 0.3;  // radians
    double scale = 0.15;    // of the size, independently in each direction
    double shear = 0.25;
    double warp = 0.3;
    double thinnest = 0.05;  // width of the pen
    double thickest = 0.11;
    double softest = 0.09;  // width of the pen's soft edge; the sharpest edge is one pixel
    double faintest = 0.6;  // contrast, up to 1; with three channels, distance of the colors
    double noise = 0.1;
    int train = 10000;
    int test = 2000;
};

/// Digits are equally likely. An image depends on its number and the seed, not on the number of
/// images. Requires channels 1 or 3, size >= 8, distortions >= 0, scale < 1, thinnest <= thickest,
/// faintest in (0, 1], train >= 1 and test >= 0.
Dataset digits(const DigitsOptions& options, const RandomStreams& streams);

}  // namespace paceline
