// The "measure" of a scenario: how often the models are evaluated, on how many samples, and the
// target; how many steps rates leave out, whether each job is run alone, too, and whether results
// have tokens, operations and device-hours, quantiles over workers, or intervals of times. These five
// apply to runs that do not train as well. The reader of the scenario reads "draws".
// "every" is a number of iterations or epochs, or a simulated time: "100 iterations", "5 epochs",
// "10s".
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/measures/training_log.hpp"
#include "app/json/object_reader.hpp"

namespace paceline {

struct Measurement {
    std::optional<double> every_epochs;
    Cadence every;                // if not in epochs
    bool every_is_given = false;  // else: by default, which is an epoch where there is a target
    std::int64_t samples = 8192;  // evaluated of each part of the data set, at most
    Target target;
    bool baseline = false;   // also run sequential SGD to the target
    std::int64_t skip = 0;   // first steps of each worker that rates leave out
    bool alone = false;      // also run each job alone on the network
    bool resources = false;  // results have tokens, operations and device-hours
    bool spread = false;     // also report quantiles over workers
    bool interval = false;   // also report how far real times may be

    /// Returns the cadence with epochs converted to iterations, at least one.
    [[nodiscard]] Cadence cadence(double steps_per_epoch) const;
};

Keys measurement_keys();

/// Throws ConfigError.
Measurement read_measurement(const Place& place);

/// Reads "target_loss", "target_test_loss" and "target_accuracy".
Target read_target(const ObjectReader& read);

}  // namespace paceline
