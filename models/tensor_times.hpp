// The time that one gradient was measured to spend on each tensor of a layout.
//
//   f_i, b_i   forward and backward pass, of the layer whose first tensor is i; 0 for its others
//
// A step is the sum of all f_i and b_i. Layers without tensors are booked as their
// multiply-accumulates are (Profile::tensor_macs).
#pragma once

#include <vector>

#include "sim/engine/units.hpp"

namespace paceline {

struct TensorTimes {
    std::vector<Duration> forward;   // by tensor of the layout
    std::vector<Duration> backward;  // the same
    /// Returns the sum of all times.
    [[nodiscard]] Duration all() const {
        Duration all{};
        for (const Duration time : forward) all = sum(all, time);
        for (const Duration time : backward) all = sum(all, time);
        return all;
    }
};

}  // namespace paceline
