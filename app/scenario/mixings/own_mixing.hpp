// A mixing that the caller brings, in place of one of the table: a function of the step.
//
// W of a step must be doubly stochastic for averages; push-sum takes its edges. A mixing that
// repeats is checked before anything runs, one that does not in the step that uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/json/object_reader.hpp"
#include "app/scenario/mixings/explicit_mixing.hpp"
#include "app/scenario/mixings/mixing_choice.hpp"

namespace paceline {

struct OwnMixing {
    std::vector<std::string> options;  // its keys, besides "kind" and "label"

    struct Made {
        std::string name;         // for messages
        std::int64_t period = 0;  // steps after which W repeats; 0: it does not
        /// Returns the rows of W of a step: the weights that are not zero, by increasing node.
        std::function<std::vector<std::vector<MixingWeight>>(std::int64_t step)> rows;
        /// Ends the run because W of a step cannot be used.
        std::function<void(std::int64_t step, const std::string& problem)> fail;
    };
    /// Checks the options of a mixing of so many workers. Throws ConfigError.
    std::function<Made(const Place& mixing, int workers)> make;
};

/// Reads a mixing that the caller brings. Throws ConfigError.
MixingChoice read_own_mixing(const OwnMixing& own, const Place& place, int workers, MixingUse use);

}  // namespace paceline
