// Tensors of random sizes, and random work for each: what forms of pieces are tested on.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "models/tensors/layout.hpp"

namespace paceline {

struct DrawnTensors {
    LayoutPtr layout;
    std::vector<double> macs;  // of each
};

inline DrawnTensors draw_tensors(std::mt19937_64& rng) {
    std::vector<Tensor> tensors;
    std::vector<double> macs;
    for (std::uint64_t i = 0, count = 1 + rng() % 8; i < count; ++i) {
        tensors.push_back({std::to_string(i), {64, static_cast<std::int64_t>(1 + rng() % 2000)}});
        macs.push_back(static_cast<double>(rng() % 1000));
    }
    return {std::make_shared<const Layout>(std::move(tensors)), std::move(macs)};
}

}  // namespace paceline
