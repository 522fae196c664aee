// What `paceline check` prints: the points of a study, the closed forms of their steps, mixings,
// the cost of running it, and warnings.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/questions/warnings/mixing_report.hpp"
#include "app/questions/warnings/warnings.hpp"
#include "app/run/memory_check.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

struct CheckReport {
    std::string text;  // with the warnings
    std::vector<std::string> warnings;
};

/// Collects the report of a study, point by point.
class StudyCheck {
  public:
    /// Call once for each point, in order.
    void see(const Point& point);
    [[nodiscard]] CheckReport report(const Study& study) const;
    /// Returns the memory of the points, of which one runs at a time.
    [[nodiscard]] const MemoryCheck& memory() const { return memory_; }

  private:
    void see_words(const Point& point);
    void see_net(const Scenario& scenario);

    std::size_t points_ = 0;
    std::vector<std::string> new_words_;  // of algorithms that are not in the words of version 2
    std::string lines_;                   // of the first points
    std::vector<std::string> nets_;       // lines on nets and memory, without repetition
    MixingLines mixings_;
    Warnings warnings_;
    bool cost_is_known_ = true;
    bool all_is_payload_ = false;  // in some point
    bool may_end_earlier_ = false;
    double messages_ = 0;
    bool has_own_method_ = false;
    double seconds_ = 0;
    MemoryCheck memory_{1};
};

/// Returns the text of the report of a study that has been read.
std::string check_text(const Study& study);

}  // namespace paceline
