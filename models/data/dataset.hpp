// A data set: training samples, test samples, and what a net must know about them.
#pragma once

#include <cstdint>

#include "models/data/samples.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// The shape of the image that inputs form. No channels: inputs are not images.
struct ImageShape {
    int channels = 0;
    int height = 0;
    int width = 0;

    bool operator==(const ImageShape&) const = default;
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

/// What is known of a data set without its samples.
struct DataShape {
    std::int64_t train = 0;  // samples
    std::int64_t test = 0;
    std::int64_t features = 0;  // of an input; 0: tokens
    std::int64_t steps = 0;     // tokens that a sample predicts; 0: no tokens
    Prediction predicts = Prediction::label;
    int classes = 0;
    ImageShape image{};
    bool one_class = false;  // all labels of training are alike
    Bytes bytes{};           // of all samples

    bool operator==(const DataShape&) const = default;
};

DataShape shape_of(const Dataset& data);

/// Returns the memory of this many samples, inputs or tokens and what is predicted.
Bytes size_of_samples(std::int64_t samples, std::int64_t features, std::int64_t steps);

}  // namespace paceline
