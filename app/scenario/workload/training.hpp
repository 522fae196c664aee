// What a workload that trains has besides its timing: a net, its data, how it is optimized and how
// it is measured.
#pragma once

#include "app/scenario/algorithms/optimizer.hpp"
#include "app/scenario/workload/data.hpp"
#include "app/scenario/workload/measurement.hpp"
#include "app/scenario/workload/models.hpp"

namespace paceline {

struct Training {
    ModelChoice model;
    DataChoice data;
    Sampling sampling = Sampling::passes;
    bool stand_in = false;  // messages have the size of the workload's layout, not of the net's
    Optimizer optimizer;
    Measurement measurement;
    Target stop;

    /// Returns the target whose first time is recorded: that of "measure", else that of "stop".
    [[nodiscard]] const Target& recorded_target() const {
        return measurement.target.given() ? measurement.target : stop;
    }
};

}  // namespace paceline
