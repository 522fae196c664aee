// The faults of a study, all at once, each at its place in what the user wrote.
//
// A point is read as JSON that nobody wrote: what is wrong with it is blamed on the scenario, on an
// axis or on a setting. faults.hpp finds what else is wrong with a point that has a fault; here,
// the points beside it are searched, too.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/json/config_error.hpp"
#include "app/scenario/faults.hpp"
#include "app/scenario/study_plan.hpp"

namespace paceline {

/// Reports an error of a resolved point at its location in the user's input.
[[noreturn]] void blame(const ConfigError& error, const StudyPlan& plan,
                        const std::vector<std::size_t>& choice);

/// Collects the faults of a study: those of the study itself, of one point, and what those beside
/// it have besides.
class Refusal {
  public:
    /// Requires that the plan outlives it.
    Refusal(const StudyPlan& plan, const std::vector<ConfigError>& faults);

    void search(std::size_t number, const std::vector<Doubt>& doubts);

    [[noreturn]] void end();

  private:
    // Adds a fault unless another one at its place is known.
    void add(const ConfigError& fault);
    void search_point(std::size_t number, FaultSearch& search);
    // Returns whether a place is, or may depend on, that of an axis on which two points differ.
    [[nodiscard]] bool is_of_axis_between(const std::string& place, std::size_t one,
                                          std::size_t other) const;

    const StudyPlan& plan_;
    std::vector<ConfigError> faults_;
    std::vector<ConfigError> resolved_;  // as they are in the points
};

/// Throws all faults of a study that has some of its own, before any point is read.
void refuse_if_wrong(const StudyPlan& plan, const PlanFaults& wrong);

}  // namespace paceline
