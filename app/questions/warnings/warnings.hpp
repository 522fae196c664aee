// What `check`, `run`, `explain` and `solve` warn of before anything runs: numbers that would be
// right and yet not what the user thinks, and runs that would end otherwise than they were meant
// to.
//
// Each kind of warning has a name, which stands behind its line and in docs/warnings.md. A kind is
// a function of one scenario (of_steps.hpp, of_ends.hpp, of_data.hpp, of_networks.hpp); the kind of
// mixings compares points (mixing_report.hpp). A warning is printed once for each label of an
// algorithm (once for all, if it is of the network or the data), with the words of the first point
// that it is about and the number of all of them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/questions/warnings/mixing_report.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

struct WarningKind {
    std::string_view name;
    std::string (*text)(const Scenario& scenario);  // empty: there is nothing to warn of
    bool of_algorithm = true;  // else of the network or data, whatever runs on it
    bool is_dear = false;      // takes a while, so its points are not counted
};

/// Returns all kinds, in the order in which they are printed; the one of mixings has no text.
std::span<const WarningKind> warning_kinds();

/// Collects the warnings of a study. Holds one text for each kind and label.
class Warnings {
  public:
    /// Looks at a point and its other jobs. Call once for each point.
    void see(const Point& point);
    /// Returns the lines, kind by kind. The axes of the study show whether the seed is swept.
    [[nodiscard]] std::vector<std::string> lines(const std::vector<Axis>& axes) const;

  private:
    struct Found {
        std::size_t kind;
        std::string text;    // of the first point
        std::size_t points;  // with this kind and label
    };

    void see(const Scenario& scenario, const std::string& label);

    MixingWarnings mixings_;
    std::vector<Found> found_;                                           // in the order of points
    std::map<std::pair<std::size_t, std::string>, std::size_t> places_;  // in found_
};

}  // namespace paceline
