// A data set: training samples, test samples, and what a net must know about them.
#pragma once

#include <cstdint>

#include "models/data/samples.hpp"

namespace paceline {

/// The shape of the image that inputs form. No channels: inputs are not images.
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
