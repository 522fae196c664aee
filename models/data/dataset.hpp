// A data set: what is trained on, what is tested on, and what a net must know of it.
#pragma once

#include <cstdint>

#include "models/data/samples.hpp"

namespace paceline {

/// How inputs lie in an image; no channels: inputs are no images.
struct ImageShape {
    int channels = 0;
    int height = 0;
    int width = 0;
};

enum class Prediction : std::uint8_t {
    number,      // targets
    label,       // labels
    next_token,  // tokens
};

struct Dataset {
    Samples train;
    Samples test;
    Prediction predicts = Prediction::label;
    int classes = 0;  // labels and tokens are 0 .. classes-1
    ImageShape image{};
};

}  // namespace paceline
