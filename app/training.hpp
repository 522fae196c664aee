// What a workload that trains has besides its timing: a net, its data, how it is optimized and how
// it is measured.
#pragma once

#include "app/data.hpp"
#include "app/measurement.hpp"
#include "app/models.hpp"
#include "app/optimizer.hpp"

namespace paceline {

struct Training {
    ModelChoice model;
    DataChoice data;
    Sampling sampling = Sampling::passes;
    bool stand_in = false;  // messages have the size of the workload's layout, not of the net's
    Optimizer optimizer;
    Measurement measurement;
    Target stop;
};

}  // namespace paceline
