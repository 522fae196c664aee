// Reads a study for Python: every point is checked, and what there is to warn of is collected.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/scenario/study.hpp"
#include "python/bindings/job.hpp"

namespace paceline::python {

struct ReadStudy {
    Study study;
    std::vector<std::string> warnings;
};
using ReadStudyPtr = std::shared_ptr<const ReadStudy>;
using ReadJob = JobFor<ReadStudyPtr>;

struct ReadRequest {
    ScenarioText scenario;
    Settings settings;
    Picks picks;
    int jobs = 1;  // points that may run side by side: these together must fit into memory
};

/// The work was stopped before it had anything to return.
struct Stopped {};

/// Begins to read. The job throws ConfigError, or Stopped.
std::unique_ptr<ReadJob> begin_reading(ReadRequest request);

}  // namespace paceline::python
