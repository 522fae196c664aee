// The "measure" of a scenario: how often the models are scored, on how many samples, and what is
// aimed at. "every" is a number of iterations or epochs, or a simulated time: "100 iterations",
// "5 epochs", "10s".
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/training_log.hpp"
#include "app/object_reader.hpp"

namespace paceline {

struct Measurement {
    std::optional<double> every_epochs;
    Cadence every;                // where not in epochs
    std::int64_t samples = 8192;  // scored of each part of the data set, at most
    Target target;
    bool baseline = false;  // run sequential SGD to the target, too

    /// With epochs as iterations, one at least.
    [[nodiscard]] Cadence cadence(double steps_per_epoch) const;
};

Keys measurement_keys();

/// Throws ConfigError.
Measurement read_measurement(const Place& place);

/// "target_loss", "target_test_loss", "target_accuracy".
Target read_target(const ObjectReader& read);

}  // namespace paceline
